import { duration, lasted } from "./time.ts";

/** The lengths of a subject's states in a time that is over. */
export interface Past {
  readonly upMs: number;
  readonly downMs: number;
  /** The number of outages. */
  readonly downs: number;
  readonly plannedMs: number;
  /** The part of the unknown time in which nobody answered, if that is known. */
  readonly unansweredMs?: number;
  /** The rest of the time. */
  readonly unknownMs: number;
}

/** The shortest unknown time that is reported, since a restart of the exporter takes seconds. */
export const NOTABLE_MS = 60_000;

/**
 * Returns `up 99.986 % of the 21 h 0 min known, down 2 times, 4 min, planned 1 h 0 min`. The percentage is of the known and unplanned time,
 * whose length it names unless that is the whole time.
 */
export function pastWords({ upMs, downMs, downs, plannedMs, unknownMs, unansweredMs = 0 }: Past): string {
  if (upMs + downMs + plannedMs === 0) return "not known";
  const isRated = upMs + downMs > 0;
  return [
    ...(isRated ? [`up ${percentOfKnown(upMs, downMs, unknownMs)}`] : []),
    ...(unansweredMs < NOTABLE_MS
      ? []
      : [`at least ${percent(upMs, downMs + unansweredMs)}`, `no answer ${lasted(unansweredMs)}`]),
    ...(downMs === 0 ? [] : [`down ${downs === 1 ? "once" : `${downs} times`}`, lasted(downMs)]),
    ...(plannedMs === 0 ? [] : [`planned ${lasted(plannedMs)}`]),
    ...(isRated || unknownMs < NOTABLE_MS ? [] : [`unknown ${lasted(unknownMs)}`]),
  ].join(", ");
}

/** Returns the first part of both as `99.998 %`; `99.998 % of the 21 h 0 min known` if a notable part of the time is unknown. */
export function percentOfKnown(partMs: number, restMs: number, unknownMs: number): string {
  const knownMs = partMs + restMs;
  const isWhole = unknownMs < NOTABLE_MS || knownMs === 0;
  return isWhole ? percent(partMs, restMs) : `${percent(partMs, restMs)} of the ${duration(knownMs)} known`;
}

/** Returns the first part of both as `99.998 %`, cut, so that only a subject that was never down has `100 %`. */
export function percent(partMs: number, restMs: number): string {
  if (partMs + restMs === 0) return "–";
  return restMs === 0 ? "100 %" : `${(Math.floor((partMs * 1e5) / (partMs + restMs)) / 1e3).toFixed(3)} %`;
}
