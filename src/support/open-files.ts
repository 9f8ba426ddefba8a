import { openSync, readSync } from "node:fs";
import type { Clock } from "./clock.ts";

/** The number of descriptors for the process itself, files and name lookups, with a margin. */
const RESERVED = 32;
/** This is more client connections than any scraping setup needs. */
const MAX_WEB = 512;
/** The limit of a process on macOS, where the limit cannot be read. */
const ASSUMED_LIMIT = 10_240;
const READ_EVERY_MS = 1000;
const LIMITS_BYTES = 4096;

/**
 * Returns a function with the limit of open descriptors of this process, at most a second old, since the limit may be changed while the
 * process runs. If the system does not report it, the limit is 10,240.
 */
export function watchDescriptorLimit(clock: Pick<Clock, "monotonicMs">): () => number {
  const read = openLimits();
  let latest = ASSUMED_LIMIT;
  let readMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - readMs >= READ_EVERY_MS) [latest, readMs] = [read(), nowMs];
    return latest;
  };
}

/** Opens the file with the limits, which stays open so that it can be read when no descriptor is free. */
function openLimits(): () => number {
  try {
    const file = openSync("/proc/self/limits", "r");
    const buffer = Buffer.alloc(LIMITS_BYTES);
    return () => limitIn(buffer.toString("latin1", 0, readSync(file, buffer, 0, LIMITS_BYTES, 0)));
  } catch {
    return () => ASSUMED_LIMIT;
  }
}

function limitIn(limits: string): number {
  const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1] ?? ASSUMED_LIMIT;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/**
 * Returns how many connections may be open to appliances, and to the web server; at least 1 of each. Some descriptors are reserved for
 * files; a quarter of the others, at most 512, is for the web server.
 */
export function shareDescriptors(limit: number) {
  const rest = Math.max(2, limit - RESERVED);
  const web = Math.max(1, Math.min(MAX_WEB, Math.floor(rest / 4)));
  return { appliances: rest - web, web };
}

/** Returns a limit that allows one connection to each of this many appliances. */
export function limitFor(appliances: number): number {
  return RESERVED + MAX_WEB + appliances;
}
