import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { errorCode } from "../../support/errors.ts";
import { inSlices } from "../../support/slices.ts";
import { openRegular, pathOf } from "./day-files.ts";
import { sealed, unsealed } from "./lines.ts";

const BLOCK_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

/**
 * The error for a file that has changed since the last write. It was `replaced` by another file, or by none, or it is `shared` with another
 * host that writes to it.
 */
export class ForeignFile extends Error {
  readonly change: "replaced" | "shared";
  constructor(path: string, change: ForeignFile["change"]) {
    super(change === "replaced" ? `${path} was replaced` : `another host writes to ${path}`);
    this.change = change;
  }
}

/** Writes to the file of a day, which is open during a write only. Otherwise a hanging file system would keep the process from ending. */
export interface DayWriter {
  readonly day: string;
  /** Returns the number of bytes of the file that are confirmed. */
  bytes(): number;
  /**
   * Writes lines, sealed, and a mark behind them, and waits until the disk has them. A mark overwrites the one before if no lines come
   * between. After an error the next call goes on from the same place. Rejects with `ForeignFile` if the file has changed since the last
   * write.
   */
  append(lines: readonly string[], mark: string): Promise<void>;
}

/** Finds or creates the file of a day, where a line whose write was interrupted will be cut. */
export async function openDay(folder: string, day: string): Promise<DayWriter> {
  const path = pathOf(folder, day);
  const { ino, size, end, nth } = await withFile(path, constants.O_RDWR | constants.O_CREAT, linesIn);
  let isTorn = end < size;
  /** The place behind the last line, and the number of the next one. */
  let after = { bytes: end, nth };
  /** The mark, with its line break and its place, if it is the last line. */
  let mark = { ...after, text: "" };

  async function check(file: FileHandle): Promise<void> {
    const found = await file.stat();
    if (found.ino !== ino) throw new ForeignFile(path, "replaced");
    if (isTorn) await file.truncate(after.bytes);
    else if (found.size !== after.bytes) throw new ForeignFile(path, "shared");
  }

  return {
    day,
    bytes: () => after.bytes,
    append: async (lines, markLine) => {
      const last = { nth: (lines.length === 0 ? mark : after).nth + lines.length, text: "" };
      last.text = `${sealed(markLine, last.nth)}\n`;
      // The write before may have overwritten a part of the mark.
      const kept = lines.length === 0 ? "" : mark.text;
      const content = Buffer.from(`${kept}${await sealedText(lines, after.nth)}${last.text}`);
      await withFile(path, constants.O_RDWR, async (file) => {
        await check(file);
        isTorn = true;
        await writeAll(file, content, mark.bytes);
        await file.datasync();
      });
      isTorn = false;
      const bytes = mark.bytes + content.length;
      mark = { ...last, bytes: bytes - last.text.length };
      after = { bytes, nth: last.nth + 1 };
    },
  };
}

async function sealedText(lines: readonly string[], firstNth: number): Promise<string> {
  let [text, nth] = ["", firstNth];
  await inSlices(lines, (line) => {
    text += `${sealed(line, nth)}\n`;
    nth += 1;
  });
  return text;
}

/**
 * Opens the file for some work. Rejects also if the file cannot be closed, since a file system on a network may report a full disk only
 * then.
 */
async function withFile<Result>(
  path: string,
  flags: number,
  work: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await openRegular(path, flags).catch((error: unknown) => {
    throw errorCode(error) === "ENOENT" ? new ForeignFile(path, "replaced") : error;
  });
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, content: Buffer, at: number): Promise<void> {
  for (let done = 0; done < content.length;)
    done += (await file.write(content, done, content.length - done, at + done)).bytesWritten;
}

async function linesIn(file: FileHandle) {
  const { ino, size } = await file.stat();
  const end = await endOfLines(file, size);
  return { ino, size, end, nth: await nextNumber(file, end) };
}

/** Returns the number of the next line: 0 if the file has none, or a last line without a number. */
async function nextNumber(file: FileHandle, end: number): Promise<number> {
  const begin = Math.max(0, end - BLOCK_BYTES);
  const block = Buffer.alloc(end - begin);
  await file.read(block, 0, block.length, begin);
  const found = unsealed(block.toString().trimEnd().split("\n").at(-1) ?? "");
  return typeof found === "string" ? 0 : found.nth + 1;
}

/** Returns the place behind the last line break. */
async function endOfLines(file: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const begin = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(block, 0, end - begin, begin);
    const at = block.subarray(0, bytesRead).lastIndexOf(LINE_BREAK);
    if (at >= 0) return begin + at + 1;
  }
  return 0;
}
