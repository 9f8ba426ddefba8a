import type { TestProject } from "vitest/node";

import { findDebianCommand, type DebianCommand } from "./debian-package.ts";
import { findPromtool, type Promtool } from "./promtool.ts";

declare module "vitest" {
  export interface ProvidedContext {
    promtool: Promtool;
    blackboxExporter: DebianCommand;
  }
}

/** Before all tests: finds the tools that are no packages of ours, once for all files. */
export function setup(project: TestProject): void {
  project.provide("promtool", findPromtool(say));
  project.provide("blackboxExporter", findDebianCommand("prometheus-blackbox-exporter", say));
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
