import { spawnSync } from "node:child_process";
import { findWithoutService, type Tool } from "./debian-tool.ts";

/** Finds Prometheus's checker, or installs the package that holds it. */
export function findPromtool(say: (message: string) => void): Tool {
  return findWithoutService("promtool", "prometheus", say);
}

/** Finds Alertmanager, or installs the package that holds it and amtool. */
export function findAlertmanager(say: (message: string) => void): Tool {
  return findWithoutService("prometheus-alertmanager", "prometheus-alertmanager", say);
}

export function findAmtool(say: (message: string) => void): Tool {
  return findWithoutService("amtool", "prometheus-alertmanager", say);
}

export function findBlackboxExporter(say: (message: string) => void): Tool {
  return findWithoutService("prometheus-blackbox-exporter", "prometheus-blackbox-exporter", say);
}

/** The output of `promtool check metrics`, both streams, and how it ended. */
export function checkMetrics(
  path: string,
  text: string,
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(path, ["check", "metrics"], { input: text, encoding: "utf8" });
  return { status, output: stdout + stderr };
}
