import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CARP0, startAppliance } from "../../appliance/support.ts";
import { createFolder } from "../config/folder.ts";
import { COMMAND } from "../../support/command.ts";
import { toolPath } from "../../support/tool.ts";
import { endChild } from "../../support/child.ts";

const PASSWORD = "pass:word";

/** Runs init at a terminal, and types each text after its question; returns what the terminal showed, and the exit code. */
async function initAtTerminal(folder: string, url: string, typed: readonly (readonly [string, string])[]) {
  const command = [process.execPath, COMMAND, "init", url].join(" ");
  const child = spawn(toolPath("script"), ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd: folder,
  });
  onTestFinished(() => endChild(child));
  let shown = "";
  let read = 0;
  const left = [...typed];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    const [question, answer] = left[0] ?? [];
    if (question === undefined || !shown.slice(read).includes(question)) return;
    read = shown.length;
    left.shift();
    child.stdin.write(answer ?? "");
  });
  const [code] = await once(child, "close");
  return { code, shown };
}

async function start() {
  const { port } = await startAppliance({ vrrp: async () => ({ ok: true, interfaces: [CARP0] }) });
  return { url: `waf=https://127.0.0.1:${port}`, folder: await createFolder({}) };
}

test("at a terminal the password is asked for and never shown", async () => {
  const { url, folder } = await start();
  const { code, shown } = await initAtTerminal(folder, url, [
    ["User for the management API: ", "monitor\r"],
    ["Password of monitor (not shown): ", `${PASSWORD}\r`],
    ["Trust 1 certificate? [y/N] ", "y\r"],
  ]);
  expect(code).toBe(0);
  expect(shown).toContain("New configuration: config.yaml");
  expect(shown).not.toContain(PASSWORD);
  expect(await readFile(join(folder, "secrets/monitor"), "utf8")).toBe(`${PASSWORD}\n`);
});

test("Ctrl-C at the question for the password ends it, and nothing is written", async () => {
  const { url, folder } = await start();
  const { code, shown } = await initAtTerminal(folder, url, [
    ["User for the management API: ", "monitor\r"],
    ["Password of monitor (not shown): ", "\u0003"],
  ]);
  expect([code, shown.trimEnd().split("\n").at(-1)]).toEqual([1, "interrupted: nothing is written"]);
  expect(await readdir(folder)).toEqual([]);
});

test("Ctrl-D at a question ends it, and nothing is written", async () => {
  const { url, folder } = await start();
  const { code, shown } = await initAtTerminal(folder, url, [["User for the management API: ", "\u0004"]]);
  expect(code).toBe(1);
  expect(shown.trimEnd().split("\n").at(-1)).toMatch(/^user: .*: nothing is written$/);
  expect(await readdir(folder)).toEqual([]);
});
