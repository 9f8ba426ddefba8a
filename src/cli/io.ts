import type { Clock } from "../support/clock.ts";

/** What a command may touch of the process it runs in. */
export interface Io {
  /** Results. */
  out(text: string): void;
  /** Errors of use and of configuration, for people. */
  err(text: string): void;
  /** Whether results go to a terminal, which acts on control characters. */
  readonly isTerminal: boolean;
  /** Whether results go to a terminal that shows colours, and nobody has asked for none (NO_COLOR). */
  readonly hasColour: boolean;
  /** Where the log goes. */
  readonly logFd: number;
  readonly clock: Clock;
  readonly version: string;
  /** How the program was called, to be shown in commands that people may type. */
  readonly calledAs: string;
  readonly nodeVersion: string;
  /** Name look-ups that may be in flight at once. */
  readonly maxLookups: number;
  /** Password files that may be read at once. */
  readonly maxPasswordReads: number;
  /** Descriptors that the process may have open, now. */
  descriptorLimit(): number;
  /** Resolves when somebody asks the program to end: SIGTERM, SIGINT. */
  readonly stopRequested: Promise<void>;
  /** Calls back whenever somebody asks for a reload: SIGHUP. */
  onReload(callback: () => void): void;
  /** Sends a signal to a process; throws where that cannot be done. */
  sendSignal(pid: number, signal: number): void;
  /** Takes the place of the last words for a bug that nobody caught; the process ends after them. */
  onFatal(lastWords: (error: unknown) => Promise<void>): void;
}

/** Exit codes: 0 good, 1 what was asked is bad or failed, 2 an error of use; 2 too where the results cannot be written. */
export type ExitCode = 0 | 1 | 2;
