import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, vi } from "vitest";
import { readJournal } from "../history/journal/claims.ts";
import { hangFile } from "../support/hanging-file.ts";
import { toolPath } from "../support/tool.ts";
import {
  BROKEN,
  terminate,
  expectPolls,
  fileIn,
  KILLED,
  REPAIRED,
  saidBy,
  setScene,
  untilSaid,
  untilStory,
  untilUp,
} from "./journal-scene.ts";
import { test } from "./stage.ts";

// The journal is tried again after seconds, and a process that hangs ends after eight.
vi.setConfig({ testTimeout: 240_000 });

test.concurrent("the disk of the journal is full: nothing is lost, nothing is written twice, and polls go on", async ({
  stage,
}) => {
  const { journal, start, failOver } = await setScene(stage);
  const program = await start();
  await untilStory(journal, ["run start", "a"]);
  const limit = (bytes: string) =>
    execFileSync(toolPath("prlimit"), [`--fsize=${bytes}:unlimited`, `--pid=${program.child.pid}`]);
  // A part of the next line fits.
  limit(String(statSync(fileIn(journal)).size + 60));
  await failOver(program);
  await untilSaid(program, "EFBIG");
  await untilUp(program, false);
  await expectPolls(program);
  await failOver(program);
  limit("unlimited");
  await untilSaid(program, REPAIRED);
  await untilUp(program, true);
  await untilStory(journal, ["run start", "a", "b", "a"]);
  expect(saidBy(program)).toEqual([expect.stringContaining(BROKEN), REPAIRED]);
});

test.concurrent("the folder of the journal is read-only: the log says so once, and the journal begins when it is writable", async ({
  stage,
}) => {
  const { journal, start } = await setScene(stage);
  await mkdir(journal, { mode: 0o500 });
  // Modes do not restrict root with all its capabilities.
  const wrapper = process.getuid?.() === 0 ? [toolPath("setpriv"), "--bounding-set=-dac_override"] : [];
  const program = await start({ wrapper });
  await untilSaid(program, "EACCES");
  await expectPolls(program);
  await untilUp(program, false);
  await chmod(journal, 0o700);
  await untilSaid(program, REPAIRED);
  await untilStory(journal, ["run start", "a"]);
  expect(saidBy(program)).toEqual([expect.stringContaining(BROKEN), REPAIRED]);
});

test.concurrent("the folder of the journal vanishes: it is made again, as soon as there is a place for it", async ({
  stage,
}) => {
  const { folder, journal: away, startHere, failOver } = await setScene(stage);
  const [disk, journal] = [join(folder, "disk"), join(folder, "disk", "journal")];
  await mkdir(disk);
  const program = await startHere(journal);
  await untilStory(journal, ["run start", "a"]);
  await rename(disk, away);
  await failOver(program);
  await untilSaid(program, "ENOENT");
  await expectPolls(program);
  await mkdir(disk);
  await untilSaid(program, REPAIRED);
  await untilStory(join(away, "journal"), ["run start", "a"]);
  await untilStory(journal, ["run gap", "b"]);
  await rm(journal, { recursive: true });
  await untilStory(journal, ["run gap", "b"]);
});

test.concurrent("the file system of a password file hangs: polls go on, and the process kills itself after SIGTERM and says why", async ({
  stage,
}) => {
  const basicAuth = { username: "monitor", password_file: "password" };
  const { folder, journal, start, failOver } = await setScene(stage, {
    alone: { http_client: { basic_auth: basicAuth } },
    files: { password: "hunter2" },
  });
  const program = await start();
  await untilStory(journal, ["run start", "a"]);
  stage.cleanUp(await hangFile(join(folder, "password")));
  await failOver(program);
  await expectPolls(program);
  const { signal } = await terminate(program);
  expect(signal).toBe("SIGKILL");
  expect(program.log().at(-1)).toMatchObject(KILLED);
});

test.concurrent("SIGTERM: what was judged until then is in the journal, and the next run begins with a start", async ({
  stage,
}) => {
  const { journal, start, startHere, failOver } = await setScene(stage);
  const first = await start();
  await untilStory(journal, ["run start", "a"]);
  await failOver(first);
  const { code } = await terminate(first);
  expect(code).toBe(0);
  await untilStory(journal, ["run start", "a", "b"]);
  expect(readdirSync(journal)).not.toContain("lock.sock");
  await startHere(journal);
  await untilStory(journal, ["run start", "a", "b", "run start", "b"]);
});

test.concurrent("two exporters have one folder: the second says so and runs without it, until the first is gone, also by SIGKILL", async ({
  stage,
}) => {
  const { journal, start, startHere } = await setScene(stage);
  const first = await start();
  await untilStory(journal, ["run start", "a"]);
  const second = await startHere(journal);
  await untilSaid(second, "another exporter uses");
  await expectPolls(second);
  await untilUp(second, false);
  await untilStory(journal, ["run start", "a"]);
  await first.end();
  await untilSaid(second, REPAIRED);
  await untilUp(second, true);
  await untilStory(journal, ["run start", "a", "run start", "a"]);
  expect(saidBy(first)).toEqual([]);
});

test.concurrent("the process stands still for 16 seconds: these are a gap in the journal", async ({
  stage,
}) => {
  const { journal, start } = await setScene(stage);
  const program = await start();
  await untilStory(journal, ["run start", "a"]);
  const before = readJournal(journal).at(-1)?.at ?? "";
  program.kill("SIGSTOP");
  await delay(16_000);
  const stoppedUntil = new Date().toISOString();
  program.kill("SIGCONT");
  await untilStory(journal, ["run start", "a", "run gap", "a"]);
  const lines = readJournal(journal);
  const nth = lines.findIndex(({ why }) => why === "gap");
  expect(lines[nth - 1]).toMatchObject({ kind: "alive" });
  expect(lines[nth - 1]?.at.localeCompare(before)).toBeGreaterThanOrEqual(0);
  expect(lines[nth]?.at.localeCompare(stoppedUntil)).toBeGreaterThanOrEqual(0);
});

test.concurrent("files of a journal are damaged, or of a newer version: a start goes on from all lines that are whole", async ({
  stage,
}) => {
  const { journal, start, startHere, failOver } = await setScene(stage);
  const first = await start();
  await untilStory(journal, ["run start", "a"]);
  await failOver(first);
  await terminate(first);
  const file = fileIn(journal);
  const whole = readFileSync(file, "utf8");
  const at = readJournal(journal).at(-1)?.at ?? "";
  const newer = [
    `{"at":"${at}","kind":"weather","state":"rain"}`,
    `{"at":"${at}","kind":"website","cluster":"ams","state":"slow","speed":{"of":"light"}}`,
    "\0".repeat(4096),
  ];
  const kept = `${whole}${newer.join("\n")}\n`;
  await writeFile(file, `${kept}{"at":"${at}","kind":"gro${"\0".repeat(512)}`);
  const yesterday = new Date(Date.parse(at) - 86_400_000).toISOString().slice(0, 10);
  const compressed = gzipSync(whole.repeat(20));
  await writeFile(join(journal, `${yesterday}.jsonl.gz`), compressed.subarray(0, -20));
  const second = await startHere(journal);
  await untilUp(second, true);
  expect(saidBy(second)).toEqual(
    expect.arrayContaining([
      "a file of the journal cannot be read as a whole unexpected end of file",
      expect.stringMatching(
        /^a file of the journal cannot be read as a whole damaged or missing: lines \d+, \d+, \d+$/,
      ),
    ]),
  );
  const text = readFileSync(file, "utf8");
  expect(text.slice(0, kept.length)).toBe(kept);
  expect(text.slice(kept.length)).toMatch(/^{"at":"[^"]+","kind":"run","v":1,"why":"start"/);
  const response = await fetch(`${second.url}/api/v1/fleet`);
  expect(await response.json()).toMatchObject({ incidents: [{ kind: "failover" }] });
});
