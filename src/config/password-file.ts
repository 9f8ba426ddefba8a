import { stat } from "node:fs/promises";
import pLimit from "p-limit";
import type { PasswordSource } from "./config.ts";
import { readTextFile, unfit, type ReadFailure } from "./read-file.ts";
import { Secret } from "../support/secret.ts";

export type PasswordResult = PasswordRead | ReadFailure;

interface PasswordRead {
  readonly ok: true;
  readonly secret: Secret;
}

export type PasswordReader = (source: PasswordSource) => Promise<PasswordResult>;

const MAX_PASSWORD_FILE_BYTES = 64 * 1024;
/** Changes within one tick of the file system's clock look alike, so what has just changed is not remembered. */
const SETTLED_AFTER_MS = 2_000;

interface Remembered {
  readonly stamp: string;
  readonly result: PasswordRead;
}

/**
 * Gives the password that the source holds now. An unchanged file costs one `stat` and gives the same `Secret`; a
 * changed one is read again, and so is one that could not be used: failures are never remembered. Callers that ask for
 * one file at the same time share the work.
 *
 * At most `maxReads` files are looked at at once: a file system that hangs must not hold every thread of the process.
 * `wallMs`: Unix time in milliseconds, which the file system's times are compared with.
 */
export function createPasswordReader({
  maxReads,
  wallMs,
}: {
  readonly maxReads: number;
  readonly wallMs: () => number;
}): PasswordReader {
  const limit = pLimit(maxReads);
  const remembered = new Map<string, Remembered>();
  const underway = new Map<string, Promise<PasswordResult>>();

  const read = async (path: string): Promise<PasswordResult> => {
    const stamp = await stampOf(path, wallMs());
    const known = remembered.get(path);
    if (known && known.stamp === stamp) return known.result;
    const result = await readPasswordFile(path);
    if (stamp === undefined || !result.ok) remembered.delete(path);
    else remembered.set(path, { stamp, result });
    return result;
  };

  return (source) => {
    if (source.kind === "inline") return Promise.resolve({ ok: true, secret: source.secret });
    const shared =
      underway.get(source.path) ?? limit(() => read(source.path)).finally(() => underway.delete(source.path));
    underway.set(source.path, shared);
    return shared;
  };
}

/** The password in a file, without the white space around it; empty, several lines or control characters are refused. */
export async function readPasswordFile(path: string): Promise<PasswordResult> {
  const read = await readTextFile(path, MAX_PASSWORD_FILE_BYTES);
  if (!read.ok) return read;
  const password = read.text.trim();
  if (password === "") return unfit("it is empty");
  // RFC 7617, section 2: user-id and password hold no control characters.
  if (/\p{Cc}/u.test(password)) return unfit("it holds more than one line, or a control character");
  return { ok: true, secret: new Secret(password) };
}

/**
 * What differs between any two states of the file; `undefined` if it is missing, or too young to tell. `nowMs`: the wall
 * clock, which the file system's times are compared with.
 */
async function stampOf(path: string, nowMs: number): Promise<string | undefined> {
  try {
    const { mtimeNs, ctimeNs, ctimeMs, size, ino } = await stat(path, { bigint: true });
    const settled = Math.abs(nowMs - Number(ctimeMs)) > SETTLED_AFTER_MS;
    return settled ? [mtimeNs, ctimeNs, size, ino].join(":") : undefined;
  } catch {
    return undefined;
  }
}
