import { spawnSync } from "node:child_process";

// Tests run in processes of their own, which would go on for a while when the one that runs them is killed; and what they
// have started would go on for good.
process.once("disconnect", () => {
  for (const pid of [...descendantsOf(process.pid), process.pid]) end(pid);
});

/** Children, their children, and so on. */
function descendantsOf(ancestor: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (parent: number): readonly number[] =>
    pairs.flatMap(([pid = 0, of]) => (of === parent ? [pid, ...childrenOf(pid)] : []));
  return childrenOf(ancestor);
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
