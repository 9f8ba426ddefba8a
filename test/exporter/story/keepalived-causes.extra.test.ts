import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const LAB = fileURLToPath(new URL("../../../bench/causes-lab/main.ts", import.meta.url));

// The command exits with 1 where anything is wrong, and the error has all that it printed.
test("failovers of real keepalived are told with causes that are true, and no visitor waits longer than is said", async () => {
  const words = ["return with preemption", "reload", "FAULT", "503"];
  const command = ["--import", import.meta.resolve("tsx"), LAB, "--runs=1", ...words];
  const { stdout } = await promisify(execFile)(process.execPath, command);
  expect(stdout).toMatch(/^SITUATION /);
});
