import type { Build } from "../support/build.ts";
import type { Clock } from "../support/clock.ts";

/** The parts of the process that a command uses. */
export interface Io {
  /** Writes results. */
  out(text: string): void;
  /** Writes usage errors and configuration errors. */
  err(text: string): void;
  /** Replaces the line of progress on a terminal; an empty text removes it. */
  progress(text: string): void;
  /** The line that the user types after the question; `undefined` if nobody can be asked. Never settles after a stop. */
  ask(question: string): Promise<string | undefined>;
  /** Whether results go to a terminal, which interprets control characters. */
  readonly isTerminal: boolean;
  /** Whether results go to a terminal with colors and NO_COLOR is not set. */
  readonly hasColor: boolean;
  /** File descriptor of the log. */
  readonly logFd: number;
  readonly clock: Clock;
  readonly version: string;
  readonly build: Build;
  /** Simultaneous name lookups. */
  readonly maxLookups: number;
  /** Simultaneous reads of password files. */
  readonly maxPasswordReads: number;
  /** The limit of open files. */
  readonly descriptorLimit: number;
  /** Resolves at SIGTERM or SIGINT. */
  readonly stopRequested: Promise<void>;
  /** Calls back at every SIGHUP. */
  onReload(callback: () => void): void;
  /** Sends a signal to a process; throws if that fails. */
  sendSignal(pid: number, signal: number): void;
  /** Replaces the handler of uncaught errors; the process ends after it. */
  onFatal(handler: (error: unknown) => Promise<void>): void;
}

/** 0: success; 1: something is invalid or failed; 2: a usage error, or results could not be written. */
export type ExitCode = 0 | 1 | 2;
