import { closeSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { errorCode } from "./errors.ts";

/** For the process itself, files and name lookups, with a margin. */
const RESERVED = 32;
/** More client connections than any scraping setup needs. */
const MAX_WEB = 512;
/** If the limit is unknown: what macOS allows a process. */
const ASSUMED_LIMIT = 10_240;

/** The limit of open descriptors of this process; a cautious guess where the system does not tell it. */
export function descriptorLimit(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "latin1");
    const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1] ?? ASSUMED_LIMIT;
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return ASSUMED_LIMIT;
  }
}

/**
 * How many connections may be open to appliances, and to the web server; at least 1 of each. Some descriptors are reserved for
 * files; a quarter of the others, at most 512, is for the web server.
 */
export function shareDescriptors(limit: number) {
  const rest = Math.max(2, limit - RESERVED);
  const web = Math.max(1, Math.min(MAX_WEB, Math.floor(rest / 4)));
  return { appliances: rest - web, web };
}

/** A limit that allows one connection to each of this many appliances. */
export function limitFor(appliances: number): number {
  return RESERVED + MAX_WEB + appliances;
}

/** The system's error if this process cannot open this many descriptors now; takes microseconds. */
export function descriptorShortage(count: number): Error | undefined {
  const taken: number[] = [];
  try {
    while (taken.length < count) taken.push(openSync(devNull, "r"));
    return undefined;
  } catch (error) {
    return error instanceof Error && /^E(M|N)FILE$/.test(errorCode(error) ?? "") ? error : undefined;
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}
