import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { COMMAND } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { scrape, type LogLine } from "../support/exporter.ts";
import { closedPort } from "../support/fault-server.ts";
import type { Samples } from "../support/samples.ts";
import { toolPath } from "../support/tool.ts";

export interface ProgramOptions {
  /** Default: the command that the last build made. */
  readonly command?: string;
  readonly logLevel?: "debug" | "info";
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further flags. */
  readonly args?: readonly string[];
  /** The limit of open files. */
  readonly descriptors?: number;
  /** A program that executes the command behind it, with its arguments. */
  readonly wrapper?: readonly string[];
  /** Becomes descriptor 3. */
  readonly descriptor?: number;
  /** Sent with each scrape. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The exporter in a process of its own. */
export interface Program {
  /** Holds `config.yaml`; the program runs in it. */
  readonly folder: string;
  readonly url: string;
  readonly child: ChildProcess;
  readonly exit: Promise<Exit>;
  /** Complete lines so far. */
  log(): readonly LogLine[];
  scrape(): Promise<Samples>;
  kill(signal: NodeJS.Signals): void;
  /** Ends it at once. */
  end(): Promise<void>;
}

/** Runs the program with `config.yaml` of the folder until it ends. */
export function runProgram(folder: string, listenAddress = "127.0.0.1:0"): Promise<Exit> {
  return spawnProgram(folder, listenAddress, {}).exit;
}

/** Starts the program with `config.yaml` of the folder, and waits until it serves. */
export async function startProgram(folder: string, options: ProgramOptions = {}): Promise<Program> {
  const address = `127.0.0.1:${await closedPort()}`;
  const url = `http://${address}`;
  const { child, exit, stderr } = spawnProgram(folder, address, options);
  const program: Program = {
    url,
    folder,
    child,
    exit,
    log: () => linesOf(stderr()),
    scrape: () => scrape(url, options.headers),
    kill: (signal) => void child.kill(signal),
    end: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
  await Promise.race([
    eventually(program.scrape, { everyMs: 100 }),
    exit.then(({ stderr: words }) => Promise.reject(new Error(`no start: ${words}`))),
  ]);
  return program;
}

/** Starts the program with `config.yaml` of the folder. */
export function spawnProgram(
  folder: string,
  listenAddress: string,
  { command = COMMAND, logLevel = "info", env = {}, args = [], ...more }: ProgramOptions,
) {
  const flags = [
    `--config.file=config.yaml`,
    `--web.listen-address=${listenAddress}`,
    `--log.level=${logLevel}`,
    ...args,
  ];
  const { descriptors, wrapper = [], descriptor } = more;
  const limited = descriptors === undefined ? [] : [toolPath("prlimit"), `--nofile=${descriptors}`];
  const [first = "", ...words] = [...wrapper, ...limited, process.execPath, command, "run", ...flags];
  const child = spawn(first, words, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exit = once(child, "close").then(([code, signal]): Exit => {
    return { code, signal, stdout, stderr };
  });
  return { child, exit, stderr: () => stderr };
}

function linesOf(text: string): readonly LogLine[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line): LogLine => JSON.parse(line));
}
