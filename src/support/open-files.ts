import { openSync, readSync } from "node:fs";

/** What the process itself, files and name look-ups take, with some to spare. */
const RESERVED = 32;
/** More connections of clients than any scraping set-up needs. */
const MAX_WEB = 512;
/** Where the limit is not known: what macOS allows a process. */
const ASSUMED_LIMIT = 10_240;
const LIMITS_FILE = "/proc/self/limits";
const LIMITS_BYTES = 8192;

/** How the descriptors of the process are shared out. */
export interface DescriptorShares {
  /** Connections to appliances that may be open at once; at least 1. */
  readonly appliances: number;
  /** Connections of clients to our own pages; at least 1. */
  readonly web: number;
}

/**
 * Makes a reader of the descriptors that this process may have open, now: the limit can be changed while it runs. The file
 * that tells it stays open, so that it can be read when no descriptor is left.
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

/** The descriptors that a process may have open, from its limits as Linux words them; without these, a cautious guess. */
export function descriptorLimit(limits: string): number {
  const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1];
  if (soft === undefined) return ASSUMED_LIMIT;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Some are left for files whatever happens; of the others a quarter, 512 at most, is for our own pages. */
export function shareDescriptors(limit: number): DescriptorShares {
  const rest = Math.max(2, limit - RESERVED);
  const web = Math.max(1, Math.min(MAX_WEB, Math.floor(rest / 4)));
  return { appliances: rest - web, web };
}

/** The least limit that leaves a connection for each of so many appliances. */
export function limitFor(appliances: number): number {
  const fourThirds = Math.floor((4 * (appliances - 1)) / 3) + 1;
  return RESERVED + Math.max(appliances + 1, Math.min(fourThirds, appliances + MAX_WEB));
}
