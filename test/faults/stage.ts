import { rm } from "node:fs/promises";
import { test as base } from "vitest";
import { startTestExporter, writeSetup, type Setup } from "../support/exporter.ts";
import { startFaultServer, type Behaviour, type FaultServer } from "../support/fault-server.ts";
import { startProgram, type Program, type ProgramOptions } from "./program.ts";

/** Starts what a test needs, and ends it with the test. */
export interface Stage {
  server(behaviour: Behaviour): Promise<FaultServer>;
  readonly exporter: typeof startTestExporter;
  /** A folder with the files of a setup. */
  folder(setup: Setup): Promise<string>;
  /** The program in a process of its own, which serves. */
  program(setup: Setup, options?: ProgramOptions): Promise<Program>;
  /** Ends something when the test is over. The last one added is ended first. */
  cleanUp(end: () => unknown): void;
}

/** Tests that get a stage of their own. */
export const test = base.extend<{ readonly stage: Stage }>({
  stage: async ({ onTestFinished }, use) =>
    use(createStage((end) => onTestFinished(async () => void (await end())))),
});

function createStage(cleanUp: Stage["cleanUp"]): Stage {
  const folder = async (setup: Setup): Promise<string> => {
    const path = await writeSetup(setup);
    cleanUp(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  return {
    server: async (behaviour) => {
      const server = await startFaultServer(behaviour);
      cleanUp(server.stop);
      return server;
    },
    exporter: async (setup) => {
      const exporter = await startTestExporter(setup);
      cleanUp(exporter.stop);
      return exporter;
    },
    folder,
    program: async (setup, options) => {
      const program = await startProgram(await folder(setup), options);
      cleanUp(program.end);
      return program;
    },
    cleanUp,
  };
}

/** An entry of the configuration. */
export function entry(
  name: string,
  server: { readonly port: number },
  more: Readonly<Record<string, unknown>> = {},
) {
  return { name, base_url: `http://127.0.0.1:${server.port}`, allow_http: true, ...more };
}

/** Polled each second. On a busy machine such a poll may fail. */
export const EVERY_SECOND = { interval: "1s", timeout: "1s" };
