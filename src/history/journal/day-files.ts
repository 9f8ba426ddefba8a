import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { errorCode } from "../../support/errors.ts";

export const DAY_MS = 86_400_000;
const FILE = /^(\d{4}-\d\d-\d\d)\.jsonl(\.gz)?$/;
const LINES = ".jsonl";
const COMPRESSED = ".jsonl.gz";
export const FILE_MODE = 0o600;
/** The size of one read. Each piece that is decompressed waits for a turn of the event loop. */
const CHUNK_BYTES = 64 * 1024;
/** The longest line. A longer one is damage, such as a hole in a file. */
const MAX_LINE_UNITS = 2 ** 20;

/**
 * A file of a journal with the records of one day in UTC. While a day is compressed it may have two files, of which the compressed one is
 * the first.
 */
export interface DayFile {
  /** The day, such as `2026-11-26`. */
  readonly day: string;
  readonly path: string;
  readonly isCompressed: boolean;
  readonly bytes: number;
}

type NamedFile = Omit<DayFile, "bytes">;

/** Returns the day of a Unix time in milliseconds, in UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the Unix time in milliseconds at which a day begins. */
export function beginOf(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`);
}

export function pathOf(folder: string, day: string): string {
  return join(folder, `${day}${LINES}`);
}

/** Returns the files of a journal, oldest first. Rejects if the folder cannot be read. */
export async function namedFiles(folder: string): Promise<readonly NamedFile[]> {
  const files = (await readdir(folder)).flatMap((name) => {
    const [, day, isCompressed] = FILE.exec(name) ?? [];
    return day === undefined
      ? []
      : [{ day, path: join(folder, name), isCompressed: isCompressed !== undefined }];
  });
  return files.toSorted((one, other) => orderOf(one) - orderOf(other));
}

/** Returns the files of a journal with their sizes, oldest first. All work is in one thread, which a file system that hangs keeps. */
export async function dayFiles(folder: string): Promise<readonly DayFile[]> {
  const files: DayFile[] = [];
  for (const file of await namedFiles(folder)) files.push({ ...file, bytes: (await stat(file.path)).size });
  return files;
}

function orderOf({ day, isCompressed }: Pick<DayFile, "day" | "isCompressed">): number {
  return beginOf(day) - (isCompressed ? 1 : 0);
}

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Reads the lines of all days that a range of time touches, oldest first, some at a time. The first day begins with the state of
 * everything. A line without its line break is left out, since its write was interrupted. Files that are removed meanwhile are left out
 * too. `onDamaged` is called if the rest of a file cannot be read.
 */
export async function* readLines(
  folder: string,
  { fromMs, toMs }: TimeRange,
  onDamaged: (path: string, error: unknown) => void,
): AsyncGenerator<readonly string[]> {
  const files = await namedFiles(folder);
  for (const [nth, file] of files.entries()) {
    const beginMs = beginOf(file.day);
    if (beginMs >= toMs || beginMs + DAY_MS <= fromMs) continue;
    try {
      const isSecond = files[nth - 1]?.day === file.day;
      if (!isSecond || !(await isLeftover(file.path))) yield* linesIn(file);
    } catch (error) {
      if (!isMissing(error)) onDamaged(file.path, error);
    }
  }
}

async function* linesIn({ path, isCompressed }: NamedFile): AsyncGenerator<readonly string[]> {
  try {
    yield* linesOf(isCompressed ? decompressed(path) : createReadStream(path));
  } catch (error) {
    if (isCompressed || !isMissing(error)) throw error;
    // The day has been compressed since the folder was read.
    yield* linesOf(decompressed(`${path}.gz`));
  }
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

async function* linesOf(stream: Readable): AsyncGenerator<readonly string[]> {
  let rest = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_UNITS) rest = "";
    if (lines.length > 0) yield lines;
  }
}

function decompressed(path: string): Readable {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  pipeline(createReadStream(path), gunzip).catch((error: unknown) => gunzip.destroy(toError(error)));
  return gunzip;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("the file cannot be read");
}

/** Compresses the file of a day that is over. If a compressed file exists, as after a clock was set back, both become one. */
export async function compressDay(folder: string, day: string): Promise<void> {
  const plain = pathOf(folder, day);
  if (!(await isLeftover(plain))) await addCompressed(folder, day);
  await rm(plain);
}

/** Whether the compressed file of the day contains this whole file, which a killed process did not remove. Both have the same time. */
async function isLeftover(path: string): Promise<boolean> {
  const compressed = await stat(`${path}.gz`).catch(() => undefined);
  return compressed !== undefined && compressed.mtime.getTime() === (await stat(path)).mtime.getTime();
}

async function addCompressed(folder: string, day: string): Promise<void> {
  const target = join(folder, `${day}${COMPRESSED}`);
  const temporary = `${target}.tmp`;
  const sources = (await namedFiles(folder)).filter((file) => file.day === day);
  const { mtime } = await stat(pathOf(folder, day));
  await pipeline(
    async function* all() {
      for (const { path, isCompressed } of sources)
        yield* isCompressed ? decompressed(path) : createReadStream(path);
    },
    createGzip(),
    createWriteStream(temporary, { mode: FILE_MODE, flush: true }),
  );
  await utimes(temporary, mtime, mtime);
  await rename(temporary, target);
}

export interface Retention {
  readonly retentionMs: number;
  readonly retentionBytes: number;
}

/** Returns the files to remove: those that are too old, then the oldest while all together are too large; never those of `today`. */
export function expired(
  files: readonly DayFile[],
  nowMs: number,
  { retentionMs, retentionBytes }: Retention,
): readonly DayFile[] {
  const today = dayOf(nowMs);
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return files.filter((file) => {
    const isOld = beginOf(file.day) + DAY_MS <= nowMs - retentionMs;
    const goes = file.day < today && (isOld || bytes > retentionBytes);
    if (goes) bytes -= file.bytes;
    return goes;
  });
}
