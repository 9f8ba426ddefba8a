import { spawnSync } from "node:child_process";
import { findDebianTool, type Tool } from "./debian-tool.ts";

/** Finds Prometheus's checker, or installs the package that holds it. */
export function findPromtool(say: (message: string) => void): Tool {
  const wasRunning = isRunning();
  const promtool = findDebianTool("promtool", "prometheus", say);
  // The package starts a server; it is the checker alone that was wanted.
  if (!wasRunning) spawnSync("service", ["prometheus", "stop"]);
  return promtool;
}

/** The output of `promtool check metrics`, both streams, and how it ended. */
export function checkMetrics(
  path: string,
  text: string,
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(path, ["check", "metrics"], { input: text, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

function isRunning(): boolean {
  return spawnSync("service", ["prometheus", "status"]).status === 0;
}
