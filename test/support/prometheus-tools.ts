import { spawnSync } from "node:child_process";

/** The output of `promtool check metrics`, both streams, and how it ended. */
export function checkMetrics(
  path: string,
  text: string,
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(path, ["check", "metrics"], { input: text, encoding: "utf8" });
  return { status, output: stdout + stderr };
}
