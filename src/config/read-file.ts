import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { errorCode } from "./error-code.ts";

export type TextResult =
  | { readonly ok: true; readonly text: string }
  /** `message`: why, in our words; it names neither the file nor anything in it. */
  | { readonly ok: false; readonly message: string };

const LEAST_ROOM_BYTES = 4096;

/** What is done about bytes that are not UTF-8: the file is refused, or U+FFFD stands for them. */
export type Decoding = "strict" | "lenient";

/**
 * The whole text of a regular file, as UTF-8 without a byte order mark, or why there is none.
 * Holds no more than `limitBytes` of it, and never waits for a pipe.
 */
export async function readTextFile(
  path: string,
  limitBytes: number,
  decoding: Decoding = "strict",
): Promise<TextResult> {
  try {
    // Non-blocking, or opening a pipe without a writer would hold a thread for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readAndClose(handle, limitBytes, decoding);
  } catch (error) {
    return { ok: false, message: wordReadError(error) };
  }
}

async function readAndClose(handle: FileHandle, limitBytes: number, decoding: Decoding): Promise<TextResult> {
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return { ok: false, message: "it is a directory" };
    if (!stats.isFile()) return { ok: false, message: "it is not a regular file" };
    if (stats.size > limitBytes) return { ok: false, message: `it is larger than ${limitBytes} bytes` };
    const bytes = await readUpTo(handle, stats.size, limitBytes + 1);
    if (bytes.length > limitBytes) return { ok: false, message: `it is larger than ${limitBytes} bytes` };
    return decode(bytes, decoding);
  } finally {
    await handle.close();
  }
}

/** A file may grow after it was measured, and those of /proc have no size: room is made as it is needed. */
async function readUpTo(handle: FileHandle, size: number, limitBytes: number): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(Math.min(Math.max(size + 1, LEAST_ROOM_BYTES), limitBytes));
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === limitBytes) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * length, limitBytes));
  }
}

function decode(bytes: Buffer, decoding: Decoding): TextResult {
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: decoding === "strict" }).decode(bytes) };
  } catch {
    return { ok: false, message: "it is not UTF-8" };
  }
}

function wordReadError(error: unknown): string {
  const code = errorCode(error) ?? "unknown error";
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return "no such file";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    default:
      return `cannot be read (${code})`;
  }
}
