import type { ApplianceConfig } from "../config/config.ts";
import { formatErrors, limitErrors, type ConfigError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import type { Shard } from "../config/shard.ts";
import type { Build } from "../../support/build.ts";
import type { Clock } from "../../support/clock.ts";
import { createLog, type Log, type LogFormat, type LogLevel } from "../../support/log.ts";
import { listedBriefly } from "../../support/text.ts";
import type { ListenAddress } from "../web/listen.ts";
import type { ExternalUrl } from "../web/paths.ts";
import { toJson } from "./format.ts";

/** The parts of the process that a command uses. */
export interface Io {
  /** Writes results. */
  out(text: string): void;
  /** Writes usage errors and configuration errors. */
  err(text: string): void;
  /** Replaces the line of progress on a terminal; an empty text removes it. */
  progress(text: string): void;
  /** Whether somebody can be asked. */
  readonly canAsk: boolean;
  /** Returns the line that the user types after the question; `undefined` if nobody can be asked. Never settles after a stop. */
  ask(question: string): Promise<string | undefined>;
  /** Asks as `ask` does, and does not show what the user types. */
  askSecret(question: string): Promise<string | undefined>;
  /** Returns all of standard input. */
  readInput(): Promise<string>;
  /** The path of `ADMIN_SOCKET`. */
  readonly defaultSocket: string;
  /** Returns a variable of the environment. */
  environment(name: string): string | undefined;
  /** Whether results go to a terminal, which interprets control characters. */
  readonly isTerminal: boolean;
  /** The width of the terminal to which results go; `undefined` for anything else. */
  readonly columns?: number;
  /** Whether results go to a terminal with colors and NO_COLOR is not set. */
  readonly hasColor: boolean;
  /** The file descriptor of the log. */
  readonly logFd: number;
  /** Whether the log goes to a terminal. */
  readonly logIsTerminal: boolean;
  /** Whether the systemd journal reads the log. */
  readonly logsToJournal: boolean;
  readonly clock: Clock;
  /** The program's version. */
  readonly version: string;
  readonly build: Build;
  /** The number of name lookups at the same time. */
  readonly maxLookups: number;
  /** The number of reads of password files at the same time. */
  readonly maxPasswordReads: number;
  /** Returns the limit of open files, which may be changed while the process runs. */
  readonly descriptorLimit: () => number;
  /** Resolves at a signal to stop (SIGTERM, SIGINT, SIGUSR2), or when standard output is closed. */
  readonly stopRequested: Promise<void>;
  /** Resolves at a signal to stop to the exit code of a command that the signal ends. */
  readonly interrupted: Promise<ExitCode>;
  /** Calls back at every SIGHUP. */
  onReload(callback: () => void): void;
  /** Sends a signal to a process; throws if that fails. */
  sendSignal(pid: number, signal: number): void;
  /**
   * Replaces the handler of errors that end the process, such as an uncaught one. The handler takes a message for the log, and its details.
   */
  onFatal(handler: (message: string, detail: string) => Promise<void>): void;
}

interface LogFlags {
  readonly "log.level": LogLevel;
  readonly "log.format"?: LogFormat;
}

/** The socket of the exporter of this host, where the Debian package has it. Commands use it if it is there. */
export const ADMIN_SOCKET = "/run/appliance-exporter/admin.sock";
/** The URL of the exporter without a socket. */
export const DEFAULT_URL = "http://localhost:10849";

/** The values of the flags, by the names that commander gives them. */
export interface Flags extends LogFlags {
  readonly "config.file": string;
  readonly "web.listenAddress": readonly ListenAddress[];
  readonly "web.telemetryPath": string;
  readonly "web.externalUrl"?: ExternalUrl;
  readonly "web.routePrefix"?: string;
  readonly "web.enableLifecycle"?: boolean;
  readonly "web.enableMaintenance"?: boolean;
  readonly "web.adminSocket"?: string;
  readonly "web.config.file"?: string;
  readonly "storage.path"?: string;
  readonly "storage.retention.time": number;
  readonly "storage.retention.size": number;
  readonly shard: Shard;
  readonly url?: string | undefined;
  readonly "http.config.file"?: string;
  readonly live?: boolean;
  readonly failed?: boolean;
  readonly certificates?: boolean;
  readonly syntaxOnly?: boolean;
  readonly raw?: boolean;
  readonly record?: string;
  readonly yes?: boolean;
  readonly output: "table" | "json";
}

/**
 * The exit code. 0: success; 1: something is invalid or failed; 2: a usage error, or results could not be written; 129, 130, 143: SIGHUP,
 * SIGINT, SIGTERM. A plugin has codes of its own, up to 3.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 129 | 130 | 143;

/** Writes the reason of a command's failure; returns its exit code. */
export function fail(io: Io, message: string, exitCode: ExitCode = 1): ExitCode {
  io.err(`${message}\n`);
  return exitCode;
}

/** Returns whether the user answers a question with yes. */
export async function isConfirmed(io: Pick<Io, "ask">, question: string): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test((await io.ask(`${question} [y/N] `)) ?? "");
}

/** Returns a line about the proxy in the environment, which no poll uses; none without one. */
export function ignoredProxy({ environment }: Pick<Io, "environment">): readonly string[] {
  const names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
  const name = names.find((each) => (environment(each) ?? "") !== "");
  return name === undefined
    ? []
    : [`${name} of the environment is ignored; http_client.proxy_url sets a proxy`];
}

/** Prints configuration errors, a line each or as JSON. Returns the exit code. */
export function printErrors(errors: readonly ConfigError[], io: Io, output?: Flags["output"]): ExitCode {
  if (output !== "json") return fail(io, formatErrors(errors).join("\n"));
  io.out(toJson({ ok: false, errors: limitErrors(errors) }));
  return 1;
}

/**
 * Loads the configuration and selects the appliances with one of these names, of their own or of their cluster; without names,
 * all. After an error, which it prints, it returns the exit code.
 */
export async function loadNamed(flags: Flags, io: Io, names: readonly string[]) {
  const { "config.file": file, shard, output, syntaxOnly } = flags;
  const loaded = await loadConfig(file, shard, { syntaxOnly });
  if (!loaded.ok) return printErrors(loaded.errors, io, output);
  const { appliances, maintenance } = loaded.config;
  const known = new Set(appliances.flatMap(({ name, cluster }) => [name, cluster]));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    return fail(
      io,
      `unknown appliance ${JSON.stringify(unknown)}; ${file} has ${listedBriefly([...known])}`,
      2,
    );
  const isNamed = ({ name, cluster }: ApplianceConfig) => names.includes(name) || names.includes(cluster);
  return { appliances, maintenance, named: names.length === 0 ? appliances : appliances.filter(isNamed) };
}

/** Opens the log; an uncaught error becomes its last line, before `cleanUp`. */
export function openLog(flags: LogFlags, io: Io, cleanUp = async () => {}): Log {
  const { "log.format": format = io.logIsTerminal ? "text" : "json" } = flags;
  const log = createLog(flags["log.level"], format, io.logFd, io.logsToJournal);
  io.onFatal(async (message, detail) => {
    log.logger.error({ detail }, message);
    await log.flush();
    await cleanUp();
  });
  return log;
}

/** Resolves when the command shall stop, or at SIGHUP. Without a configuration to reload, SIGHUP means that the terminal was closed. */
export function stopOrHangUp({ stopRequested, onReload }: Io): Promise<void> {
  return Promise.race([stopRequested, new Promise<void>((resolve) => onReload(resolve))]);
}
