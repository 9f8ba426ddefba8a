import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestExporter, writeSetup, type ExporterUnderTest, type Setup } from "../support/exporter.ts";
import { startFaultServer, type Behaviour, type FaultServer } from "../support/fault-server.ts";
import { startProgram, type Program, type ProgramOptions } from "./program.ts";

/** A fault with a course of its own: it resolves where the stated behaviour was seen. */
export interface Proof {
  readonly fault: number;
  readonly name: string;
  /** The tool without which it cannot be shown. */
  readonly needs?: "faketime" | "prlimit";
  readonly prove: (stage: Stage) => Promise<void>;
}

/** Starts what a proof needs, and ends it with the proof. */
export interface Stage {
  server(behaviour: Behaviour): Promise<FaultServer>;
  exporter(setup: Setup): Promise<ExporterUnderTest>;
  /** A folder with the files of a setup. */
  folder(setup: Setup): Promise<string>;
  /** The program in a process of its own, which serves. */
  program(setup: Setup, options?: ProgramOptions): Promise<Program>;
  /** The descriptor of a pipe that nobody reads. */
  unreadPipe(): Promise<number>;
  /** The path of a pipe that nobody has open; whoever waits to open it is let in at the end. */
  emptyFifo(): Promise<string>;
  /** Remembers what must be ended, whatever comes; last come, first ended. */
  cleanUp(end: () => unknown): void;
}

/** Runs a proof and then ends all that it started. */
export async function runProof({ prove }: Proof): Promise<void> {
  const ends: (() => unknown)[] = [];
  const folder = async (setup: Setup): Promise<string> => {
    const path = await writeSetup(setup);
    ends.unshift(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  const fifo = async (): Promise<string> => {
    const path = join(await folder({ config: {} }), "fifo");
    await promisify(execFile)("mkfifo", [path]);
    return path;
  };
  const stage: Stage = {
    server: async (behaviour) => {
      const server = await startFaultServer(behaviour);
      ends.unshift(server.stop);
      return server;
    },
    exporter: async (setup) => {
      const exporter = await startTestExporter(setup);
      ends.unshift(exporter.stop);
      return exporter;
    },
    folder,
    program: async (setup, options) => {
      const program = await startProgram(await folder(setup), options);
      ends.unshift(program.end);
      return program;
    },
    unreadPipe: async () => {
      const handle = await openBothWays(await fifo());
      ends.unshift(() => handle.close());
      return handle.fd;
    },
    emptyFifo: async () => {
      const path = await fifo();
      ends.unshift(async () => {
        const handle = await openBothWays(path);
        // Each that was waiting makes room for the next one.
        await new Promise((resolve) => setTimeout(resolve, 200));
        await handle.close();
      });
      return path;
    },
    cleanUp: (end) => void ends.unshift(end),
  };
  try {
    await prove(stage);
  } finally {
    for (const end of ends) await end();
  }
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
