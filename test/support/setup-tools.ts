import { execFileSync } from "node:child_process";

import type { TestProject } from "vitest/node";

import { findDebianTools, type DebianCommand, type Tool } from "./debian-tool.ts";
import { findFaketimeLibrary } from "./faketime.ts";
import { findLab, LAB_COMMANDS, type LabTools } from "./lab-tools.ts";

declare module "vitest" {
  export interface ProvidedContext {
    promtool: Tool;
    alertmanager: Tool;
    amtool: Tool;
    /** The library. */
    faketime: Tool;
    prlimit: Tool;
    systemdAnalyze: Tool;
    blackboxExporter: Tool;
    keepalived: Tool;
    ip: Tool;
    lab: LabTools;
    chromium: Tool;
  }
}

const COMMANDS: readonly DebianCommand[] = [
  ...LAB_COMMANDS,
  { command: "promtool", packageName: "prometheus", service: "prometheus" },
  { command: "amtool", packageName: "prometheus-alertmanager", service: "prometheus-alertmanager" },
  {
    command: "prometheus-blackbox-exporter",
    packageName: "prometheus-blackbox-exporter",
    service: "prometheus-blackbox-exporter",
  },
  { command: "faketime", packageName: "faketime" },
  { command: "prlimit", packageName: "util-linux" },
  { command: "systemd-analyze", packageName: "systemd" },
  { command: "chromium", packageName: "chromium" },
];

/** Before all tests, once for all files: finds the tools that are no packages of ours, and builds what browsers load. */
export function setup(project: TestProject): void {
  const tools = findDebianTools(COMMANDS, say);
  project.provide("promtool", tools("promtool"));
  project.provide("alertmanager", tools("prometheus-alertmanager"));
  project.provide("amtool", tools("amtool"));
  project.provide("faketime", findFaketimeLibrary(tools("faketime")));
  project.provide("prlimit", tools("prlimit"));
  project.provide("systemdAnalyze", tools("systemd-analyze"));
  project.provide("blackboxExporter", tools("prometheus-blackbox-exporter"));
  project.provide("keepalived", tools("keepalived"));
  project.provide("ip", tools("ip"));
  project.provide("lab", findLab(tools));
  project.provide("chromium", tools("chromium"));
  buildPage();
}

/** What the exporter serves to browsers is compiled; the rest of the program is tested as it is written. */
function buildPage(): void {
  execFileSync("npm", ["run", "--silent", "build:page"], { stdio: "inherit" });
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
