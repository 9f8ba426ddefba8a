import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { errorCode } from "../support/errors.ts";

export type TextResult = { readonly ok: true; readonly text: string } | ReadFailure;

/** Why a file or folder cannot be used. */
export interface ReadFailure {
  readonly ok: false;
  /** Does not contain the file's name or content. */
  readonly message: string;
  /**
   * Whether this host failed to read it (out of descriptors, I/O error, stale handle), so that a retry may succeed;
   * otherwise the operator has to fix the path, the permissions or the content.
   */
  readonly isSystemError: boolean;
}

const MIN_BUFFER_BYTES = 4096;

/** Whether invalid UTF-8 is an error or becomes U+FFFD. */
export type Decoding = "strict" | "lenient";

/**
 * Reads a regular file of at most `limitBytes` as UTF-8, without a byte order mark. Anything else is a failure; a pipe
 * does not block.
 */
export async function readTextFile(
  path: string,
  limitBytes: number,
  decoding: Decoding = "strict",
): Promise<TextResult> {
  try {
    // O_NONBLOCK: opening a pipe without a writer would block a thread forever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readAndClose(handle, limitBytes, decoding);
  } catch (error) {
    return readFailure(error);
  }
}

async function readAndClose(handle: FileHandle, limitBytes: number, decoding: Decoding): Promise<TextResult> {
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return unfit("it is a directory");
    if (!stats.isFile()) return unfit("it is not a regular file");
    if (stats.size > limitBytes) return unfit(`it is larger than ${limitBytes} bytes`);
    const bytes = await readUpTo(handle, stats.size, limitBytes + 1);
    if (bytes.length > limitBytes) return unfit(`it is larger than ${limitBytes} bytes`);
    return decode(bytes, decoding);
  } finally {
    await handle.close();
  }
}

/** Grows the buffer as needed: a file may grow after `stat`, and files of /proc have no size. */
async function readUpTo(handle: FileHandle, size: number, limitBytes: number): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(Math.min(Math.max(size + 1, MIN_BUFFER_BYTES), limitBytes));
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
    return unfit("it is not UTF-8");
  }
}

/** A failure that the operator has to fix. */
export function unfit(message: string): ReadFailure {
  return { ok: false, message, isSystemError: false };
}

/** Classifies an error of the file system. */
export function readFailure(error: unknown): ReadFailure {
  const code = errorCode(error) ?? "unknown error";
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return unfit("no such file");
    case "EACCES":
    case "EPERM":
      return unfit("permission denied");
    case "ELOOP":
    case "ENAMETOOLONG":
    case "ENXIO":
    case "ERR_INVALID_ARG_VALUE":
      return unfit(`cannot be read (${code})`);
    default:
      return { ok: false, message: `cannot be read (${code})`, isSystemError: true };
  }
}
