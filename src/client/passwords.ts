import pLimit from "p-limit";
import type { PasswordSource } from "../config/config.ts";
import { readPasswordFile, type ReadFailure } from "../config/read-file.ts";
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
  const latest = new Map<string, { readonly result: Promise<PasswordResult>; readonly untilMs: number }>();

  function read(path: string): Promise<PasswordResult> {
    const result = limit(async (): Promise<PasswordResult> => {
      const readMs = clock.monotonicMs();
      const file = await readPasswordFile(path).finally(() => latest.delete(path));
      if (!file.ok) return file;
      latest.set(path, { result, untilMs: readMs + READ_EVERY_MS });
      return { ok: true, secret: new Secret(file.text) };
    });
    latest.set(path, { result, untilMs: Infinity });
    return result;
  }

  return async (source) => {
    if (source.kind === "inline") return { ok: true, secret: source.secret };
    const known = latest.get(source.path);
    return known !== undefined && clock.monotonicMs() < known.untilMs ? known.result : read(source.path);
  };
}
