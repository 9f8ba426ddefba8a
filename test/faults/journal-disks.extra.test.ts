import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { endChild } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { obstacleTo } from "../support/obstacle.ts";
import { toolPath } from "../support/tool.ts";
import {
  expectPolls,
  KILLED,
  REPAIRED,
  setScene,
  untilSaid,
  untilStory,
  untilUp,
  type Scene,
} from "./journal-scene.ts";
import type { Program, ProgramOptions } from "./program.ts";
import { test, type Stage } from "./stage.ts";

const FILE_SYSTEM = fileURLToPath(new URL("../support/memory-file-system.ts", import.meta.url));

/** A namespace of mounts, without root also one of users. */
const UNSHARE = ["--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];

/** Why this machine cannot mount a file system for a test; empty if it can. */
const obstacle = obstacleTo("mounting a file system", () => {
  const script = 'mount -t tmpfs none "$1"';
  execFileSync(toolPath("unshare"), [...UNSHARE, "sh", "-ec", script, "sh", tmpdir()]);
});
const fuseObstacle =
  obstacle || obstacleTo("a file system of a process", () => closeSync(openSync("/dev/fuse", "r+")));

/** Runs a program whose folder `journal` is a file system of its own, which no other program sees. */
function mounted(mount: string): ProgramOptions {
  const script = `${mount} journal && exec 3>&- && exec "$@"`;
  return { wrapper: [toolPath("unshare"), ...UNSHARE, "sh", "-ec", script, "sh"] };
}

/** The same folder, as the program sees it. */
function seenBy({ child }: Program, folder: string): string {
  return `/proc/${child.pid}/root${folder}`;
}

/**
 * Starts a program with its journal on a file system that hangs between SIGSTOP and SIGCONT, at first if `hangs`. A program that waits for
 * an answer may be ended by the end of the file system alone, so that ends first.
 */
async function startOnMemory(stage: Stage, { journal, start }: Scene, hangs = false) {
  await mkdir(journal);
  const device = openSync("/dev/fuse", "r+");
  const files = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), FILE_SYSTEM], {
    stdio: ["ignore", "inherit", "inherit", device],
  });
  if (hangs) files.kill("SIGSTOP");
  const options = "fd=3,rootmode=40700,user_id=0,group_id=0";
  try {
    const program = await start({
      ...mounted(`mount -i -t fuse -o ${options} memory`),
      descriptor: device,
    });
    return { program, files, seen: seenBy(program, journal) };
  } finally {
    closeSync(device);
    stage.cleanUp(() => endChild(files));
  }
}

test.concurrent("the file system of the journal hangs for a while, and then until the end", async ({
  stage,
  skip,
}) => {
  skip(fuseObstacle !== "", fuseObstacle);
  const scene = await setScene(stage);
  const { program, files, seen } = await startOnMemory(stage, scene);
  await untilStory(seen, ["run start", "a"]);
  files.kill("SIGSTOP");
  await untilSaid(program, "does not answer");
  await untilUp(program, false);
  await scene.failOver(program);
  await expectPolls(program);
  files.kill("SIGCONT");
  await untilSaid(program, REPAIRED);
  await untilUp(program, true);
  await untilStory(seen, ["run start", "a", "b"]);
  files.kill("SIGSTOP");
  await untilUp(program, false);
  program.kill("SIGTERM");
  await eventually(() => expect(program.log().at(-1)).toMatchObject(KILLED));
  // The kernel may keep a process until its file system answers or ends.
  await endChild(files);
  expect(await program.exit).toMatchObject({ signal: "SIGKILL" });
});

test.concurrent("the file system of the journal hangs at the start: the exporter polls, and writes the journal when it answers", async ({
  stage,
  skip,
}) => {
  skip(fuseObstacle !== "", fuseObstacle);
  const { program, files, seen } = await startOnMemory(stage, await setScene(stage), true);
  await untilSaid(program, "the journal cannot be written the file system does not answer");
  await expectPolls(program);
  files.kill("SIGCONT");
  await untilUp(program, true);
  await untilStory(seen, ["run start", "a"]);
});

test.concurrent("the disk of the journal has no space: nothing is lost, and nothing is written twice", async ({
  stage,
  skip,
}) => {
  skip(obstacle !== "", obstacle);
  const { journal, start, failOver } = await setScene(stage);
  await mkdir(journal);
  const program = await start(mounted("mount -t tmpfs -o size=64k journal"));
  const seen = seenBy(program, journal);
  await untilStory(seen, ["run start", "a"]);
  const filling = join(seen, "filling");
  await writeFile(filling, Buffer.alloc(2 ** 20)).catch(() => {});
  for (let nth = 1; nth <= 6; nth += 1) await failOver(program);
  await untilSaid(program, "ENOSPC");
  await untilUp(program, false);
  await expectPolls(program);
  await rm(filling);
  await untilSaid(program, REPAIRED);
  await untilStory(seen, ["run start", "a", "b", "a", "b", "a", "b", "a"]);
});
