import { readFile, stat } from "node:fs/promises";
import { errorCode } from "../../support/errors.ts";
import { runningAs } from "../../support/user.ts";

export type TextResult = { readonly ok: true; readonly text: string } | ReadFailure;

/** The reason why a file or folder cannot be used. */
export interface ReadFailure {
  readonly ok: false;
  /** The message does not contain the file's name or content. */
  readonly message: string;
  /** Whether this host failed to read the file (out of descriptors, I/O error, stale handle), so that a retry may succeed. */
  readonly isSystemError: boolean;
}

export const NO_SUCH_FILE = "no such file";

/** Reads a regular file as UTF-8, without a byte order mark; invalid bytes become U+FFFD. */
export async function readTextFile(path: string): Promise<TextResult> {
  try {
    // Opening a pipe would block a thread until something is written to it.
    if (!(await stat(path)).isFile()) return unfit("it is not a regular file");
    return { ok: true, text: new TextDecoder().decode(await readFile(path)) };
  } catch (error) {
    return readFailure(error);
  }
}

/** Reads a file as `readTextFile` does, also a pipe such as `/dev/stdin`, until its end. */
export async function readTextOrPipe(path: string): Promise<TextResult> {
  try {
    return { ok: true, text: new TextDecoder().decode(await readFile(path)) };
  } catch (error) {
    return readFailure(error);
  }
}

/** Returns a failure that the operator has to fix. */
export function unfit(message: string): ReadFailure {
  return { ok: false, message, isSystemError: false };
}

export function readFailure(error: unknown): ReadFailure {
  const code = errorCode(error) ?? "unknown error";
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
    case "ENAMETOOLONG":
      return unfit(NO_SUCH_FILE);
    case "ELOOP":
      return unfit("its path is a loop of links");
    case "EACCES":
    case "EPERM":
      return unfit(`permission denied (running as ${runningAs()})`);
    default:
      return { ok: false, message: `cannot be read (${code})`, isSystemError: true };
  }
}

/** Reads the password in a file, without surrounding white space. Empty files, several lines and control characters are errors. */
export async function readPasswordFile(path: string): Promise<TextResult> {
  const read = await readTextFile(path);
  return read.ok ? passwordIn(read.text) : read;
}

/** Returns the password in a text. @see readPasswordFile */
export function passwordIn(text: string): TextResult {
  const password = text.trim();
  if (password === "") return unfit("it is empty");
  if (password.includes("\uFFFD")) return unfit("it is not UTF-8");
  // RFC 7617, section 2, forbids control characters.
  if (/\p{Cc}/u.test(password)) return unfit("it contains more than one line or a control character");
  return { ok: true, text: password };
}
