import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

export type TextResult =
  | { readonly ok: true; readonly text: string }
  /** `message`: why, in our words; it names neither the file nor anything in it. */
  | { readonly ok: false; readonly message: string };

/**
 * The whole text of a regular file, as UTF-8 without a byte order mark, or why there is none.
 * Holds no more than `limitBytes` of it, and never waits for a pipe.
 */
export async function readTextFile(path: string, limitBytes: number): Promise<TextResult> {
  try {
    // Non-blocking, or opening a pipe without a writer would hold a thread for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readAndClose(handle, limitBytes);
  } catch (error) {
    return { ok: false, message: wordReadError(error) };
  }
}

async function readAndClose(handle: FileHandle, limitBytes: number): Promise<TextResult> {
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return { ok: false, message: "it is a directory" };
    if (!stats.isFile()) return { ok: false, message: "it is not a regular file" };
    if (stats.size > limitBytes) return { ok: false, message: `it is larger than ${limitBytes} bytes` };
    // A file may grow after it was measured.
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(limitBytes + 1), 0, limitBytes + 1, 0);
    if (bytesRead > limitBytes) return { ok: false, message: `it is larger than ${limitBytes} bytes` };
    return decode(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function decode(bytes: Buffer): TextResult {
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, message: "it is not UTF-8" };
  }
}

function wordReadError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
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
