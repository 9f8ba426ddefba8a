import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { errorCode } from "../../support/errors.ts";
import { FILE_MODE, pathOf } from "./day-files.ts";

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
   * Writes lines and a mark behind them, and waits until the disk has them. A mark overwrites the one before if no lines come between.
   * After an error the next call goes on from the same place. Rejects with `ForeignFile` if the file has changed since the last write.
   */
  append(lines: string, mark: string): Promise<void>;
}

/** Finds or creates the file of a day, where a line whose write was interrupted will be cut. */
export async function openDay(folder: string, day: string): Promise<DayWriter> {
  const path = pathOf(folder, day);
  const { ino, size, end } = await withFile(path, constants.O_RDWR | constants.O_CREAT, linesIn);
  let endBytes = end;
  let markBytes = 0;
  let isTorn = endBytes < size;

  async function check(file: FileHandle): Promise<void> {
    const found = await file.stat();
    if (found.ino !== ino) throw new ForeignFile(path, "replaced");
    if (isTorn) await file.truncate(endBytes);
    else if (found.size !== endBytes) throw new ForeignFile(path, "shared");
  }

  return {
    day,
    bytes: () => endBytes,
    append: async (lines, mark) => {
      const at = lines === "" ? endBytes - markBytes : endBytes;
      const content = Buffer.from(`${lines}${mark}`);
      await withFile(path, constants.O_RDWR, async (file) => {
        await check(file);
        isTorn = true;
        await writeAll(file, content, at);
        await file.datasync();
      });
      isTorn = false;
      [endBytes, markBytes] = [at + content.length, mark.length];
    },
  };
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
  const file = await open(path, flags, FILE_MODE).catch((error: unknown) => {
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
  return { ino, size, end: await endOfLines(file, size) };
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
