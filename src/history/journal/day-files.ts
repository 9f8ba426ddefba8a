import { createHash, randomUUID } from "node:crypto";
import { constants, createWriteStream } from "node:fs";
import { lstat, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { errorCode } from "../../support/errors.ts";
import { createLineReader, sealed, type Progress } from "./lines.ts";
import { atOf, clusterIn, formatRecord, kindOf } from "./record.ts";

export const DAY_MS = 86_400_000;
const FILE = /^(\d{4}-\d\d-\d\d)\.jsonl(\.gz)?$/;
const TEMPORARY = /^\d{4}-\d\d-\d\d\.jsonl\.gz\.[\w-]+\.tmp$/;
const LINES = ".jsonl";
export const FILE_MODE = 0o600;
/** The size of one read. Each piece that is decompressed waits for a turn of the event loop. */
const CHUNK_BYTES = 64 * 1024;
/** The longest line. A longer one is damage, such as a hole in a file. */
const MAX_LINE_UNITS = 2 ** 20;
/** More than the lines of a day, also if its file was compressed twice. */
const MAX_DAY_UNITS = 2 ** 28;

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
  for (const file of await namedFiles(folder)) files.push({ ...file, bytes: (await lstat(file.path)).size });
  return files;
}

/**
 * Opens a file of a journal, and never another one: rejects for a symbolic link, a pipe, a device. None of them makes it wait.
 */
export async function openRegular(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, FILE_MODE).catch(
    (error: unknown) => {
      throw errorCode(error) === "ELOOP" ? new Error(NOT_REGULAR, { cause: error }) : error;
    },
  );
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(NOT_REGULAR);
}

const NOT_REGULAR = "not a regular file; remove it";

async function streamOf(
  { path, isCompressed }: NamedFile,
  from = 0,
  onBytes?: (chunk: Buffer) => void,
): Promise<Readable> {
  const file = await openRegular(path, constants.O_RDONLY);
  const stream = file.createReadStream({ highWaterMark: CHUNK_BYTES, start: from });
  const bytes = onBytes === undefined ? stream : tapped(stream, onBytes);
  if (!isCompressed) return bytes;
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  pipeline(bytes, gunzip).catch((error: unknown) => gunzip.destroy(toError(error)));
  return gunzip;
}

/** Returns a stream of the same bytes, each part of which is also given to a function. */
function tapped(stream: Readable, onBytes: (chunk: Buffer) => void): Readable {
  const through = new Transform({
    transform: (chunk: Buffer, _, done) => {
      onBytes(chunk);
      done(null, chunk);
    },
  });
  pipeline(stream, through).catch((error: unknown) => through.destroy(toError(error)));
  return through;
}

function orderOf({ day, isCompressed }: Pick<DayFile, "day" | "isCompressed">): number {
  return beginOf(day) - (isCompressed ? 1 : 0);
}

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Reads the lines of the records of all days that a range of time touches, oldest first, some at a time, as `LineReader` returns them. The
 * first day begins with the state of everything. A line without its line break is left out, since its write was interrupted. Files that are
 * removed meanwhile are left out too. `onFile` is called after each file. `onDamaged` is called for each file with `DamagedLines`, or whose rest cannot be read.
 */
export async function* readLines(
  folder: string,
  { fromMs, toMs }: TimeRange,
  onDamaged: OnDamaged,
  onFile?: (file: ReadFile) => void,
): AsyncGenerator<readonly string[]> {
  const progress = { latest: "" };
  for (const file of await namedFiles(folder)) {
    const beginMs = beginOf(file.day);
    if (beginMs >= toMs || beginMs + DAY_MS <= fromMs) continue;
    const hash = createHash("sha256");
    let bytes = 0;
    const onBytes = (chunk: Buffer): void => {
      hash.update(chunk);
      bytes += chunk.length;
    };
    const failure = yield* recordLines(file, progress, onDamaged, WHOLE, onFile && onBytes);
    if (isMissing(failure)) continue;
    // What was read before a failure does not identify the file.
    const whole = failure === undefined ? { bytes, sha256: hash.digest("hex") } : {};
    onFile?.({ name: basename(file.path), ...whole });
  }
}

/** A file as it was read. */
export interface ReadFile {
  readonly name: string;
  /** Both are absent for a file that cannot be read to its end. */
  readonly bytes?: number;
  readonly sha256?: string;
}

/**
 * Reads lines as `readLines` does, of the latest days until a Unix time in milliseconds, and not more than so many bytes: the newest ones.
 * `onLeftOut` is called for each file that is not read as a whole.
 */
export async function* readLatest(
  folder: string,
  { toMs, days, bytes }: { readonly toMs: number; readonly days: number; readonly bytes: number },
  { onDamaged, onLeftOut }: { readonly onDamaged: OnDamaged; readonly onLeftOut: (path: string) => void },
): AsyncGenerator<readonly string[]> {
  const files = (await namedFiles(folder)).filter(({ day }) => beginOf(day) <= toMs);
  const latest = new Set(Array.from(new Set(files.map(({ day }) => day))).slice(-days));
  let left = bytes;
  const parts: (NamedFile & FilePart)[] = [];
  for (const file of files.filter(({ day }) => latest.has(day)).toReversed()) {
    // The end of a compressed file cannot be read alone, so that its begin is read.
    const size = file.isCompressed ? 0 : await bytesIn(file.path);
    if (size > left) onLeftOut(file.path);
    parts.unshift({ ...file, from: Math.max(0, size - left), most: left });
    left = Math.max(0, left - size);
  }
  const progress = { latest: "" };
  const damaged: OnDamaged = (path, error) =>
    error instanceof TooLong ? onLeftOut(path) : onDamaged(path, error);
  for (const { from, most, ...file } of parts) yield* recordLines(file, progress, damaged, { from, most });
}

/** The error for a file that has more than is read. */
class TooLong extends Error {
  constructor(most: number) {
    super(`longer than a day can be (${most} characters)`);
  }
}

/** The part of a file that is read: from a byte on, and not more than so many characters. */
interface FilePart {
  readonly from: number;
  readonly most: number;
}

const WHOLE: FilePart = { from: 0, most: MAX_DAY_UNITS };

/** Returns the bytes of a file; 0 if there is none any more. */
async function bytesIn(path: string): Promise<number> {
  return (await lstat(path).catch(() => undefined))?.size ?? 0;
}

type OnDamaged = (path: string, error: unknown) => void;

/** Reads the lines of the records in a part of a file; returns why the rest cannot be read, if it cannot. @see readLines */
async function* recordLines(
  file: NamedFile,
  progress: Progress,
  onDamaged: OnDamaged,
  part = WHOLE,
  onBytes?: (chunk: Buffer) => void,
): AsyncGenerator<readonly string[], unknown> {
  const reader = createLineReader(file.day, progress, part.from > 0);
  let failure: unknown;
  try {
    for await (const lines of linesIn(file, part, onBytes)) yield lines.flatMap(reader.read);
  } catch (error) {
    failure = error;
    if (!isMissing(error)) onDamaged(file.path, error);
  }
  const damage = reader.damage();
  if (damage !== undefined) onDamaged(file.path, damage);
  return failure;
}

async function* linesIn(
  file: NamedFile,
  part: FilePart,
  onBytes?: (chunk: Buffer) => void,
): AsyncGenerator<readonly string[]> {
  const { path, isCompressed } = file;
  const stream = await streamOf(file, part.from, onBytes).catch((error: unknown) => {
    if (isCompressed || !isMissing(error)) throw error;
    // The day has been compressed since the folder was read.
    return streamOf({ ...file, path: `${path}.gz`, isCompressed: true }, 0, onBytes);
  });
  yield* linesOf(stream, part);
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT";
}

async function* linesOf(stream: Readable, { from, most }: FilePart): AsyncGenerator<readonly string[]> {
  let rest = "";
  let skips = from > 0 ? 1 : 0;
  let units = 0;
  for await (const chunk of stream.setEncoding("utf8")) {
    const text = String(chunk);
    units += text.length;
    if (units > most) throw new TooLong(most);
    // A line in many pieces is not searched again with each of them.
    const [end = "", ...lines] = text.split("\n");
    rest += end;
    if (lines.length > 0) {
      lines.unshift(rest);
      rest = lines.pop() ?? "";
    }
    if (rest.length > MAX_LINE_UNITS) {
      // The begin of a line that is damaged anyway.
      lines.push("");
      rest = "";
    }
    if (lines.length > 0) yield skips > 0 ? lines.slice(skips) : lines;
    if (lines.length > 0) skips = 0;
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("the file cannot be read");
}

/**
 * Compresses the file of a day that is over. If a compressed file exists, as after a clock was set back, both become one. A process that is
 * killed between may leave lines in both files, which say twice the same.
 */
export async function compressDay(folder: string, day: string): Promise<void> {
  const sources = (await namedFiles(folder)).filter((file) => file.day === day);
  await replaceDay(folder, day, async function* all() {
    for (const source of sources) yield* wholeLines(await streamOf(source));
  });
  await rm(pathOf(folder, day));
}

/** Returns what a stream has up to its last line break: a line whose write was interrupted would spoil the first one of the next file. */
async function* wholeLines(stream: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    const end = bytes.lastIndexOf("\n") + 1;
    if (end > 0) {
      yield* rest;
      yield bytes.subarray(0, end);
      rest = [];
    }
    rest.push(bytes.subarray(end));
    if (rest.length * CHUNK_BYTES <= MAX_LINE_UNITS) continue;
    yield* rest;
    rest = [];
  }
}

/** Writes the compressed file of a day that is over. */
async function replaceDay(
  folder: string,
  day: string,
  content: () => AsyncGenerator<Buffer | string>,
): Promise<void> {
  const target = `${pathOf(folder, day)}.gz`;
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    const file = createWriteStream(temporary, { flags: "wx", mode: FILE_MODE, flush: true });
    await pipeline(content, createGzip(), file);
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Removes what killed processes left: of days, or of other files. */
export async function removeTemporary(folder: string, names = TEMPORARY): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (names.test(entry.name) && entry.isFile()) await rm(join(folder, entry.name));
}

/** Returns the bytes of the lines of each cluster in a day that is over. */
export async function sizesIn(folder: string, day: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for await (const line of linesOfDay(folder, day)) {
    const cluster = clusterIn(line);
    if (cluster !== "") sizes.set(cluster, (sizes.get(cluster) ?? 0) + line.length);
  }
  return sizes;
}

/** Takes the lines of clusters from a day that is over: nothing is known of them on that day. */
export async function withoutClusters(
  folder: string,
  day: string,
  clusters: ReadonlySet<string>,
): Promise<void> {
  await replaceDay(folder, day, async function* all() {
    let nth = 0;
    for await (const line of linesOfDay(folder, day)) {
      if (clusters.has(clusterIn(line))) continue;
      const [at, isBegin] = [atOf(line), nth === 0 || kindOf(line) === "run"];
      // A cluster that a run does not mention would be no part of the configuration any more.
      const lost = isBegin
        ? Array.from(clusters, (cluster) => formatRecord({ at, kind: "lost", cluster }))
        : [];
      for (const each of [line, ...lost]) {
        yield `${sealed(each, nth)}\n`;
        nth += 1;
      }
    }
  });
}

/** Reads the lines of the records of the compressed file of a day. Rejects if it cannot be read to its end. */
async function* linesOfDay(folder: string, day: string): AsyncGenerator<string> {
  const file = { day, path: `${pathOf(folder, day)}.gz`, isCompressed: true };
  // Whether the day follows the one before is for its readers to find out.
  const reader = createLineReader(day, { latest: new Date(beginOf(day)).toISOString() });
  for await (const lines of linesIn(file, WHOLE)) yield* lines.flatMap(reader.read);
}
