import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test as base } from "vitest";
import { startTestExporter, writeSetup, type ExporterUnderTest, type Setup } from "../support/exporter.ts";
import { startFaultServer, type Behaviour, type FaultServer } from "../support/fault-server.ts";
import { startProgram, type Program, type ProgramOptions } from "./program.ts";

/** Starts what a test needs, and ends it with the test. */
export interface Stage {
  server(behaviour: Behaviour): Promise<FaultServer>;
  exporter(setup: Setup): Promise<ExporterUnderTest>;
  /** A folder with the files of a setup. */
  folder(setup: Setup): Promise<string>;
  /** The program in a process of its own, which serves. */
  program(setup: Setup, options?: ProgramOptions): Promise<Program>;
  /** The descriptor of a pipe that nobody reads. */
  unreadPipe(): Promise<number>;
  /** The path of a pipe that nobody has open. Those who wait to open it may do so when the test is over. */
  emptyFifo(): Promise<string>;
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
  const fifo = async (): Promise<string> => {
    const path = join(await folder({ config: {} }), "fifo");
    await promisify(execFile)("mkfifo", [path]);
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
    unreadPipe: async () => {
      const handle = await openBothWays(await fifo());
      cleanUp(() => handle.close());
      return handle.fd;
    },
    emptyFifo: async () => {
      const path = await fifo();
      cleanUp(async () => {
        const handle = await openBothWays(path);
        // Each reader that was waiting makes room for the next one.
        await new Promise((resolve) => setTimeout(resolve, 200));
        await handle.close();
      });
      return path;
    },
    cleanUp,
  };
}

/** A pipe that is open for both never waits for the other side. */
function openBothWays(fifo: string): Promise<FileHandle> {
  return open(fifo, constants.O_RDWR | constants.O_NONBLOCK);
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

/** Polled with so long a deadline that no busy machine adds a failure of its own. */
export const PATIENT = { interval: "5s", timeout: "5s" };
