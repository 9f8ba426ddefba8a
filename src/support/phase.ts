import { createHash } from "node:crypto";

/** The share of an interval, from 0 up to 1, at which everything with this key is due: even, and the same in every process. */
export function phaseFraction(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) / 2 ** 32;
}
