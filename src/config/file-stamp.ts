import { stat } from "node:fs/promises";

/** Changes within one tick of the file system's clock look alike, so what has just changed is not remembered. */
const SETTLED_AFTER_MS = 2_000;

/**
 * What differs between any two states of the file; `undefined` if it is missing, or too young to tell. `nowMs`: the wall
 * clock, which the file system's times are compared with.
 */
export async function stampOf(path: string, nowMs: number): Promise<string | undefined> {
  try {
    const { mtimeNs, ctimeNs, ctimeMs, size, ino } = await stat(path, { bigint: true });
    const settled = Math.abs(nowMs - Number(ctimeMs)) > SETTLED_AFTER_MS;
    return settled ? [mtimeNs, ctimeNs, size, ino].join(":") : undefined;
  } catch {
    return undefined;
  }
}
