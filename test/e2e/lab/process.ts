import { closeSync, fstatSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import type { Place, Sandbox } from "./sandbox.ts";

const START_DEADLINE_MS = 60_000;

/** A program of the lab. What it prints is in a file of its own, after what earlier ones of its name have printed. */
export interface Running {
  /** Everything that it has printed. */
  output(): Promise<string>;
  /** Waits until it has printed this; rejects with what it printed instead, where it ends before. */
  printed(pattern: RegExp): Promise<void>;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Sends the signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

interface StartOptions {
  /** The name of its file of output, unique in the folder. */
  readonly name: string;
  readonly place: Place;
  /** It runs in it. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program of the lab. */
export function start(
  sandbox: Sandbox,
  command: readonly string[],
  { name, place, folder, env = {} }: StartOptions,
): Running {
  const file = join(folder, `${name}.log`);
  const output = openSync(file, "a");
  const { size: from } = fstatSync(output);
  const { child, signal } = sandbox.spawn(place, command, { cwd: folder, output, env });
  closeSync(output);
  const exit = new Promise<void>((resolve, reject) => {
    child.once("exit", () => resolve());
    child.once("error", reject);
  });
  const read = async () => (await readFile(file)).subarray(from).toString();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    output: read,
    printed: async (pattern) => {
      const ended = await eventually(
        async () => {
          if (hasEnded()) return true;
          if (!pattern.test(await read())) throw new Error(`${name} has not printed ${pattern}`);
          return false;
        },
        { timeoutMs: START_DEADLINE_MS },
      );
      if (ended) throw new Error(`${name} has ended: ${await read()}`);
    },
    signal,
    end: async (by = "SIGTERM") => {
      await signal(by);
      await exit;
    },
  };
}
