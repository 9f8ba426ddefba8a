import { openSync, readSync } from "node:fs";

/** For the process itself, files and name lookups, with a margin. */
const RESERVED = 32;
/** More client connections than any scraping setup needs. */
const MAX_WEB = 512;
/** If the limit is unknown: what macOS allows a process. */
const ASSUMED_LIMIT = 10_240;
const LIMITS_FILE = "/proc/self/limits";
const LIMITS_BYTES = 8192;

/** How the descriptors of the process are divided. */
export interface DescriptorShares {
  /** Maximum number of open connections to appliances; at least 1. */
  readonly appliances: number;
  /** Maximum number of open connections to the web server; at least 1. */
  readonly web: number;
}

/**
 * Returns a function that reads the current limit of open descriptors, which can change at runtime. Its source file
 * stays open, so that it is readable even if no descriptor is left.
 */
export function openDescriptorLimit(): () => number {
  let file: number;
  try {
    file = openSync(LIMITS_FILE, "r");
  } catch {
    return () => ASSUMED_LIMIT;
  }
  const buffer = Buffer.alloc(LIMITS_BYTES);
  return () => descriptorLimit(buffer.toString("latin1", 0, readSync(file, buffer, 0, LIMITS_BYTES, 0)));
}

/** The limit of open descriptors in a Linux limits file; a cautious guess if it is missing. */
export function descriptorLimit(limits: string): number {
  const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1];
  if (soft === undefined) return ASSUMED_LIMIT;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Reserves some descriptors for files. A quarter of the others, at most 512, is for the web server. */
export function shareDescriptors(limit: number): DescriptorShares {
  const rest = Math.max(2, limit - RESERVED);
  const web = Math.max(1, Math.min(MAX_WEB, Math.floor(rest / 4)));
  return { appliances: rest - web, web };
}

/** The lowest limit that allows one connection to each of this many appliances. */
export function limitFor(appliances: number): number {
  const fourThirds = Math.floor((4 * (appliances - 1)) / 3) + 1;
  return RESERVED + Math.max(appliances + 1, Math.min(fourThirds, appliances + MAX_WEB));
}
