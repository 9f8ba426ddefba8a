import { execFileSync } from "node:child_process";

import type { TestProject } from "vitest/node";

import { findDebianTool, findWithoutService, type Tool } from "./debian-tool.ts";
import { findAlertmanager, findAmtool, findBlackboxExporter, findPromtool } from "./prometheus-tools.ts";
import { findLab, type LabTools } from "./lab-tools.ts";

declare module "vitest" {
  export interface ProvidedContext {
    promtool: Tool;
    alertmanager: Tool;
    amtool: Tool;
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

/** Before all tests, once for all files: finds the tools that are no packages of ours, and builds what browsers load. */
export function setup(project: TestProject): void {
  project.provide("promtool", findPromtool(say));
  project.provide("alertmanager", findAlertmanager(say));
  project.provide("amtool", findAmtool(say));
  project.provide("faketime", findDebianTool("faketime", "faketime", say));
  project.provide("prlimit", findDebianTool("prlimit", "util-linux", say));
  project.provide("systemdAnalyze", findDebianTool("systemd-analyze", "systemd", say));
  project.provide("blackboxExporter", findBlackboxExporter(say));
  project.provide("keepalived", findWithoutService("keepalived", "keepalived", say));
  project.provide("ip", findDebianTool("ip", "iproute2", say));
  project.provide("lab", findLab(say));
  project.provide("chromium", findDebianTool("chromium", "chromium", say));
  buildPage();
}

/** What the exporter serves to browsers is compiled; the rest of the program is tested as it is written. */
function buildPage(): void {
  execFileSync("npm", ["run", "--silent", "build:page"], { stdio: "inherit" });
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
