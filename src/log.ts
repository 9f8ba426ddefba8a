import { destination, pino, stdTimeFunctions, type Logger as PinoLogger } from "pino";
import { toLogfmt } from "./logfmt.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["json", "logfmt"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** How the program speaks to those who run it: constant lower-case messages, data in fields. */
export type Logger = Pick<PinoLogger, LogLevel>;

export interface Log {
  readonly logger: Logger;
  /** Lines lost because nobody took them. */
  dropped(): number;
  /** Waits until everything is written, `timeoutMs` at most. */
  flush(timeoutMs: number): Promise<void>;
}

/** Lines that wait for a reader that is slow; beyond this they are dropped and counted. */
const BUFFER_LIMIT_BYTES = 1024 * 1024;

/** Logs to a file descriptor, without ever waiting for whoever reads it. */
export function createLog(level: LogLevel, format: LogFormat, fd: number): Log {
  let dropped = 0;
  const sink = destination({ dest: fd, sync: false, maxLength: BUFFER_LIMIT_BYTES });
  sink.on("drop", () => (dropped += 1));
  // The reader is gone; a line that cannot be written is a line dropped, never a reason to end.
  sink.on("error", () => (dropped += 1));
  const stream = format === "json" ? sink : { write: (line: string) => sink.write(toLogfmt(line)) };
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: ["password", "authorization", "*.password", "*.authorization"], censor: "<secret>" },
  };
  return {
    logger: pino(options, stream),
    dropped: () => dropped,
    flush: (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        sink.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
