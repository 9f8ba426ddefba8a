import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { useTemporaryFolder } from "./support.ts";
import { COMMAND } from "../support/command.ts";
import { endChild } from "../support/child.ts";

// An open handle would keep the program running.
test("the demo as a process ends by itself on Ctrl-C, with no handle and no file left", async () => {
  const folder = await useTemporaryFolder();
  const child = spawn(process.execPath, [COMMAND, "demo", "--web.listen-address=127.0.0.1:0"], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => endChild(child));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const exited = once(child, "exit");
  await expect.poll(() => out).toContain("Press Ctrl-C to stop.");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
  expect(await readdir(folder)).toEqual([]);
});
