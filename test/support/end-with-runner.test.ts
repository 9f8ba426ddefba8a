import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "./eventually.ts";

const WORKER = fileURLToPath(new URL("end-with-runner-worker.ts", import.meta.url));
const SETUP = new URL("end-with-runner.ts", import.meta.url).href;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a process of tests ends with the one that runs them, and so does what it has started", async () => {
  const worker = fork(WORKER, { execArgv: ["--import", "tsx", "--import", SETUP] });
  const [pid] = await once(worker, "message");
  expect(isRunning(Number(pid))).toBe(true);
  const ended = once(worker, "exit");
  worker.disconnect();
  expect(await ended).toEqual([null, "SIGKILL"]);
  await eventually(() => expect(isRunning(Number(pid))).toBe(false));
});
