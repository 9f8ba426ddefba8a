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
  /** Waits until everything is written, `timeoutMs` at most; what is left then is lost, with all that follows. */
  flush(timeoutMs: number): Promise<void>;
}

/** Lines that wait for a reader that is slow; beyond this they are dropped and counted. */
const BUFFER_LIMIT_BYTES = 1024 * 1024;

/** With none, the sink writes at once just so, but its flush waits for nothing. */
const FLUSHABLE_BYTES = 1;

/** Logs to a file descriptor, without ever waiting for whoever reads it. */
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

/** A line that cannot be written is a line dropped and counted, never a reason to wait or to end. */
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
          // What is still waiting would be written synchronously at exit, for as long as the reader likes.
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
