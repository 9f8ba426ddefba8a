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
  }
}

/** Before all tests: finds the tools that are no packages of ours, once for all files. */
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
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
