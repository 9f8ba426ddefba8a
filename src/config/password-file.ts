import pLimit from "p-limit";
import type { PasswordSource } from "./config.ts";
import { readTextFile, unfit, type ReadFailure, type TextResult } from "./read-file.ts";
import type { Clock } from "../support/clock.ts";
import { Secret } from "../support/secret.ts";

export type PasswordResult = { readonly ok: true; readonly secret: Secret } | ReadFailure;

export type PasswordReader = (source: PasswordSource) => Promise<PasswordResult>;

/** Reading a file for each poll would cost a large part of the poll. */
const READ_EVERY_MS = 100;

/**
 * Returns a source's current password. A file is read at most ten times a second; a failure is not remembered. Simultaneous
 * calls for one file share the work.
 *
 * `maxReads`: simultaneous reads, so that a hanging file system does not block every thread of the process.
 */
export function createPasswordReader(maxReads: number, clock: Pick<Clock, "monotonicMs">): PasswordReader {
  const limit = pLimit(maxReads);
  const latest = new Map<string, { readonly result: PasswordResult; readonly readMs: number }>();
  const underway = new Map<string, Promise<PasswordResult>>();

  async function read(path: string): Promise<PasswordResult> {
    const readMs = clock.monotonicMs();
    const file = await readPasswordFile(path);
    if (!file.ok) return file;
    const result = { ok: true, secret: new Secret(file.text) } as const;
    latest.set(path, { result, readMs });
    return result;
  }

  return async (source) => {
    if (source.kind === "inline") return { ok: true, secret: source.secret };
    const { path } = source;
    const known = latest.get(path);
    if (known !== undefined && clock.monotonicMs() - known.readMs < READ_EVERY_MS) return known.result;
    const shared = underway.get(path) ?? limit(() => read(path)).finally(() => underway.delete(path));
    underway.set(path, shared);
    return shared;
  };
}

/** The password in a file, without surrounding white space. Empty files, several lines and control characters are errors. */
export async function readPasswordFile(path: string): Promise<TextResult> {
  const read = await readTextFile(path);
  if (!read.ok) return read;
  const password = read.text.trim();
  if (password === "") return unfit("it is empty");
  if (password.includes("\uFFFD")) return unfit("it is not UTF-8");
  // RFC 7617, section 2, forbids control characters.
  if (/\p{Cc}/u.test(password)) return unfit("it contains more than one line or a control character");
  return { ok: true, text: password };
}
