import { constants, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { userInfo } from "node:os";
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

export const NO_SUCH_FILE = "no such file";

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/** Reads a configuration file, or a file of certificates or keys, of at most 4 MiB. */
export function readConfigText(path: string): Promise<TextResult> {
  return readTextFile(path, MAX_CONFIG_BYTES);
}

/**
 * Reads a regular file of at most `limitBytes` as UTF-8, without a byte order mark; invalid bytes become U+FFFD. Anything
 * else is a failure; a pipe does not block.
 */
export async function readTextFile(path: string, limitBytes: number): Promise<TextResult> {
  const tooLarge = unfit(`it is larger than ${limitBytes} bytes`);
  try {
    // O_NONBLOCK: opening a pipe without a writer would block a thread forever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (stats.isDirectory()) return unfit("it is a directory");
      if (!stats.isFile()) return unfit("it is not a regular file");
      if (stats.size > limitBytes) return tooLarge;
      const bytes = await handle.readFile();
      // Files of /proc have no size.
      return bytes.length > limitBytes ? tooLarge : { ok: true, text: new TextDecoder().decode(bytes) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return readFailure(error);
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
    case "ENAMETOOLONG":
      return unfit(NO_SUCH_FILE);
    case "EACCES":
    case "EPERM":
      return unfit(`permission denied (running as ${runningAs()})`);
    case "ELOOP":
    case "ENXIO":
    case "ERR_INVALID_ARG_VALUE":
      return unfit(`cannot be read (${code})`);
    default:
      return { ok: false, message: `cannot be read (${code})`, isSystemError: true };
  }
}

/** The user of this process: `uid 65534 (nobody)`; containers have users without a name. */
function runningAs(): string {
  try {
    const { uid, username } = userInfo();
    return `uid ${uid} (${username})`;
  } catch {
    return `uid ${statSync("/proc/self").uid}`;
  }
}
