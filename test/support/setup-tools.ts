import type { TestProject } from "vitest/node";

import { findPromtool, type Promtool } from "./promtool.ts";

declare module "vitest" {
  export interface ProvidedContext {
    promtool: Promtool;
  }
}

/** Before all tests: finds the tools that are no packages of ours, once for all files. */
export function setup(project: TestProject): void {
  project.provide(
    "promtool",
    findPromtool((message) => process.stderr.write(`${message}\n`)),
  );
}
