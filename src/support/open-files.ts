import { readFileSync } from "node:fs";

/** For the process itself, files and name lookups, with a margin. */
const RESERVED = 32;
/** More client connections than any scraping setup needs. */
const MAX_WEB = 512;
/** If the limit is unknown: what macOS allows a process. */
const ASSUMED_LIMIT = 10_240;

/** How the descriptors of the process are divided. */
export interface DescriptorShares {
  /** Maximum number of open connections to appliances; at least 1. */
  readonly appliances: number;
  /** Maximum number of open connections to the web server; at least 1. */
  readonly web: number;
}

/** The limit of open descriptors of this process; a cautious guess where Linux does not tell it. */
export function descriptorLimit(): number {
  let limits = "";
  try {
    limits = readFileSync("/proc/self/limits", "latin1");
  } catch {
    return ASSUMED_LIMIT;
  }
  const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1] ?? ASSUMED_LIMIT;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Reserves some descriptors for files. A quarter of the others, at most 512, is for the web server. */
export function shareDescriptors(limit: number): DescriptorShares {
  const rest = Math.max(2, limit - RESERVED);
  const web = Math.max(1, Math.min(MAX_WEB, Math.floor(rest / 4)));
  return { appliances: rest - web, web };
}

/** A limit that allows one connection to each of this many appliances. */
export function limitFor(appliances: number): number {
  return RESERVED + MAX_WEB + appliances;
}
