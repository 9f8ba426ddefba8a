import { stat } from "node:fs/promises";
import pLimit from "p-limit";
import type { PasswordSource } from "./config.ts";
import { readTextFile, unfit, type ReadFailure, type TextResult } from "./read-file.ts";
import type { Clock } from "../support/clock.ts";
import { Secret } from "../support/secret.ts";

export type PasswordResult = { readonly ok: true; readonly secret: Secret } | ReadFailure;

export type PasswordReader = (source: PasswordSource) => Promise<PasswordResult>;

const MAX_PASSWORD_FILE_BYTES = 64 * 1024;
/** Changes within one tick of the file system's clock are indistinguishable: recently changed files are not cached. */
const CACHEABLE_AFTER_MS = 2_000;
/** Looking at the file in a thread costs a fifth of a poll. */
const CHECKED_EVERY_MS = 100;

interface CachedPassword {
  readonly stamp: string;
  readonly result: PasswordResult;
  /** The monotonic instant at which the file was last found unchanged. */
  readonly checkedMs: number;
}

/**
 * Returns a source's current password. An unchanged file costs a `stat` in a tenth of a second and returns the same
 * `Secret`; a changed or invalid file is read again. Simultaneous calls for one file share the work.
 *
 * `maxReads`: simultaneous reads, so that a hanging file system does not block every thread of the process.
 */
export function createPasswordReader(maxReads: number, clock: Clock): PasswordReader {
  const limit = pLimit(maxReads);
  const cache = new Map<string, CachedPassword>();
  const underway = new Map<string, Promise<PasswordResult>>();

  const read = async (path: string): Promise<PasswordResult> => {
    const checkedMs = clock.monotonicMs();
    const stamp = await stampOf(path, clock.wallMs());
    const known = cache.get(path);
    if (known && known.stamp === stamp) {
      cache.set(path, { ...known, checkedMs });
      return known.result;
    }
    const file = await readPasswordFile(path);
    const result: PasswordResult = file.ok ? { ok: true, secret: new Secret(file.text) } : file;
    if (stamp === undefined || !result.ok) cache.delete(path);
    else cache.set(path, { stamp, result, checkedMs });
    return result;
  };

  return async (source) => {
    if (source.kind === "inline") return { ok: true, secret: source.secret };
    const { path } = source;
    const known = cache.get(path);
    if (known && clock.monotonicMs() - known.checkedMs < CHECKED_EVERY_MS) return known.result;
    const shared = underway.get(path) ?? limit(() => read(path)).finally(() => underway.delete(path));
    underway.set(path, shared);
    return shared;
  };
}

/** The password in a file, without surrounding white space. Empty files, several lines and control characters are errors. */
export async function readPasswordFile(path: string): Promise<TextResult> {
  const read = await readTextFile(path, MAX_PASSWORD_FILE_BYTES);
  if (!read.ok) return read;
  const password = read.text.trim();
  if (password === "") return unfit("it is empty");
  if (password.includes("\uFFFD")) return unfit("it is not UTF-8");
  // RFC 7617, section 2, forbids control characters.
  if (/\p{Cc}/u.test(password)) return unfit("it contains more than one line or a control character");
  return { ok: true, text: password };
}

/** Differs between any two states of the file; `undefined` if it is missing or has just changed. `nowMs`: wall clock. */
async function stampOf(path: string, nowMs: number): Promise<string | undefined> {
  try {
    const { mtimeNs, ctimeNs, ctimeMs, size, ino } = await stat(path, { bigint: true });
    const isCacheable = Math.abs(nowMs - Number(ctimeMs)) > CACHEABLE_AFTER_MS;
    return isCacheable ? [mtimeNs, ctimeNs, size, ino].join(":") : undefined;
  } catch {
    return undefined;
  }
}
