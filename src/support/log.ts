import { fstatSync } from "node:fs";
import { destination, pino, stdTimeFunctions, type Logger as PinoLogger } from "pino";
import { keysOf } from "./keys.ts";
import { printable } from "./text.ts";

/** The levels, and the beginning of a line of each in the systemd journal. @see sd-daemon(3) */
const JOURNAL_PREFIXES = { debug: "<7>", info: "<6>", warn: "<4>", error: "<3>" } as const;
export const LOG_LEVELS = keysOf(JOURNAL_PREFIXES);
export type LogLevel = keyof typeof JOURNAL_PREFIXES;
/** `text` is for people at a terminal. */
export const LOG_FORMATS = ["json", "logfmt", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** A logger. Messages are constant and lower-case; data is in fields. */
export type Logger = Pick<PinoLogger, LogLevel>;

export interface Log {
  readonly logger: Logger;
  /** Returns the number of lines lost because they could not be written. */
  dropped(): number;
  /** Waits until everything is written, at most a second. After this call, remaining and later lines are lost. */
  flush(): Promise<void>;
}

/** The buffer for a slow reader; lines beyond it are dropped and counted. */
const BUFFER_LIMIT_BYTES = 1024 * 1024;
const FLUSH_TIMEOUT_MS = 1000;

/** Whether the journal reads this descriptor; `stream` is the variable `JOURNAL_STREAM`. @see systemd.exec(5) */
export function isJournal(fd: number, stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return stream === `${dev}:${ino}`;
}

/** Returns the text, whose lines are errors for the journal. */
export function journalErrors(text: string): string {
  return text.replace(/^(?=.)/gm, JOURNAL_PREFIXES.error);
}

/**
 * Logs to a file descriptor. Never blocks on its reader: a line that cannot be written is dropped and counted. `toJournal` says that the
 * journal reads the descriptor and needs the level of each line.
 */
export function createLog(level: LogLevel, format: LogFormat, fd: number, toJournal = false): Log {
  // With a minLength of 0, flush would not wait.
  const sink = destination({ dest: fd, sync: false, minLength: 1, maxLength: BUFFER_LIMIT_BYTES });
  let dropped = 0;
  let isGivenUp = false;
  sink.on("drop", () => (dropped += 1));
  sink.on("error", (error: NodeJS.ErrnoException) => {
    dropped += 1;
    isGivenUp ||= error.code === "EPIPE";
  });
  const write = (line: string): void => {
    if (isGivenUp) dropped += 1;
    else sink.write(prefixOf(line) + WRITERS[format](line));
  };
  const prefixOf = (line: string): string => {
    const known = toJournal ? LOG_LEVELS.find((each) => line.startsWith(`{"level":"${each}"`)) : undefined;
    return known === undefined ? "" : JOURNAL_PREFIXES[known];
  };
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: ["password", "authorization", "*.password", "*.authorization"], censor: "<secret>" },
  };
  const flush = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        // Without this, the rest would be written synchronously at exit, which a slow reader can block.
        isGivenUp = true;
        sink.destroy();
        resolve();
      }, FLUSH_TIMEOUT_MS);
      sink.flush(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  return { logger: pino(options, { write }), dropped: () => dropped, flush };
}

const WRITERS: Readonly<Record<LogFormat, (jsonLine: string) => string>> = {
  json: printable,
  logfmt: toLogfmt,
  text: toText,
};

/** Converts a line of JSON to a line of logfmt: `key=value`, quoted if the value needs it. */
export function toLogfmt(jsonLine: string): string {
  return `${pairsOf(JSON.parse(jsonLine))}\n`;
}

/** Converts a line of JSON to one that people read: the time, the level if it is no usual one, the sentences, and other fields as logfmt. */
function toText(jsonLine: string): string {
  const fields: Readonly<Record<string, unknown>> = JSON.parse(jsonLine);
  const { level, time, msg, summary, detail, ...others } = fields;
  const when = String(time)
    .replace("T", " ")
    .replace(/\.\d+Z$/, "Z");
  const rank = level === "info" ? [] : [String(level).toUpperCase()];
  const sentences = [...rank, ...[msg, summary, detail].flatMap(textOf)].join(": ");
  const parts = [when, printable(sentences).replace(/[\n\t]/g, " "), pairsOf(others)];
  return `${parts.join("  ").trimEnd()}\n`;
}

function textOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  return [typeof value === "string" ? value : JSON.stringify(value)];
}

function pairsOf(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([key, value]) => `${key}=${formatValue(value)}`)
    .join(" ");
}

function formatValue(value: unknown): string {
  const [text = ""] = textOf(value);
  const quoted = printable(JSON.stringify(text));
  return quoted === `"${text}"` && /^[^\s=]+$/.test(text) ? text : quoted;
}
