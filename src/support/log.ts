import { destination, pino, stdTimeFunctions, type Logger as PinoLogger } from "pino";
import { toLogfmt } from "./logfmt.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["json", "logfmt"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Messages are constant and lower-case; data is in fields. */
export type Logger = Pick<PinoLogger, LogLevel>;

export interface Log {
  readonly logger: Logger;
  /** The number of lines lost because they could not be written. */
  dropped(): number;
  /** Waits until everything is written, at most `timeoutMs`; after that, remaining and later lines are lost. */
  flush(timeoutMs: number): Promise<void>;
}

/** Buffer for a slow reader; lines beyond it are dropped and counted. */
const BUFFER_LIMIT_BYTES = 1024 * 1024;

/** With 0, pino's flush would not wait. */
const FLUSHABLE_BYTES = 1;

/** Logs to a file descriptor. Never blocks on its reader. */
export function createLog(level: LogLevel, format: LogFormat, fd: number): Log {
  const sink = createSink(fd);
  const stream = { write: (line: string) => sink.write(format === "json" ? line : toLogfmt(line)) };
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: ["password", "authorization", "*.password", "*.authorization"], censor: "<secret>" },
  };
  return { logger: pino(options, stream), dropped: sink.dropped, flush: sink.flush };
}

interface Sink extends Pick<Log, "dropped" | "flush"> {
  write(line: string): void;
}

/** A line that cannot be written is dropped and counted. */
function createSink(fd: number): Sink {
  const boom = destination({
    dest: fd,
    sync: false,
    minLength: FLUSHABLE_BYTES,
    maxLength: BUFFER_LIMIT_BYTES,
  });
  let dropped = 0;
  let isGivenUp = false;
  boom.on("drop", () => (dropped += 1));
  boom.on("error", (error: NodeJS.ErrnoException) => {
    dropped += 1;
    isGivenUp ||= error.code === "EPIPE";
  });
  return {
    write: (line) => {
      if (isGivenUp) dropped += 1;
      else boom.write(line);
    },
    dropped: () => dropped,
    flush: (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          // Otherwise the rest is written synchronously at exit, which a slow reader can block.
          isGivenUp = true;
          boom.destroy();
          resolve();
        }, timeoutMs);
        boom.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
