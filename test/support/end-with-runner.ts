import { spawnSync } from "node:child_process";

// Each file of tests evaluates this, also those that share a process.
if (!process.listeners("disconnect").some(({ name }) => name === endWithRunner.name))
  process.once("disconnect", endWithRunner);

/** If the test runner is killed, its workers and the programs that they started must not run on. */
function endWithRunner(): void {
  for (const pid of [...descendantsOf(process.pid), process.pid]) process.kill(pid, "SIGKILL");
}

function descendantsOf(ancestor: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const processes = (stdout ?? "").trim().split("\n");
  const childrenOf = (parent: number): readonly number[] =>
    processes
      .map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([pid = 0, of]) => (of === parent ? [pid, ...childrenOf(pid)] : []));
  return childrenOf(ancestor);
}
