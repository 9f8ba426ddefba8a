import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../appliance/support.ts";
import { COMMAND } from "./command.ts";
import { EMPTY_DOCUMENT } from "../exporter/web/support.ts";
import { endChild } from "./child.ts";

const FULL = "cannot write to standard output: ENOSPC: no space left on device, write\n";

/** A command's exit code and what it says on stderr, its results going to a file descriptor or, `closed`, to a reader who has left. */
async function run(
  args: readonly string[],
  stdout: number | "closed",
): Promise<{ code: number | null; err: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    stdio: ["ignore", stdout === "closed" ? "pipe" : stdout, "pipe"],
  });
  onTestFinished(() => endChild(child));
  child.stdout?.destroy();
  let err = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  await once(child, "close");
  return { code: child.exitCode, err };
}

async function fullDevice(): Promise<number> {
  const device = await open("/dev/full", "w");
  onTestFinished(() => device.close());
  return device.fd;
}

/** An exporter whose fleet is well. */
async function wellExporter(): Promise<string> {
  const body = JSON.stringify({ ...EMPTY_DOCUMENT, verdict: "well" });
  return `http://127.0.0.1:${await listen(createServer((_, response) => response.end(body)))}`;
}

test("results that do not fit on the disk are reported as lost", async () => {
  const [url, full] = [await wellExporter(), await fullDevice()];
  const commands = [["status", `--url=${url}`], ["--version"], ["demo", "--web.listen-address=127.0.0.1:0"]];
  const ended = await Promise.all(commands.map((argv) => run(argv, full)));
  expect(ended.map(({ code }) => code)).toEqual([2, 2, 2]);
  for (const { err } of ended) expect(err).toContain(FULL);
});

test("a reader that closes the pipe loses nothing", async () => {
  const url = await wellExporter();
  expect(await run(["status", `--url=${url}`], "closed")).toEqual({ code: 0, err: "" });
});
