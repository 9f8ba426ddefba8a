import { createHash } from "node:crypto";

/** The phase of a key within an interval, from 0 up to 1: evenly distributed, and the same in every process. */
export function phaseFraction(key: string): number {
  return createHash("sha256").update(key).digest().readUInt32BE(0) / 2 ** 32;
}
