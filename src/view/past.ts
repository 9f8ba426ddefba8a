import { lasted } from "./time.ts";

/** How a subject was in a time that is over. */
export interface Past {
  readonly upMs: number;
  readonly downMs: number;
  /** How often it was down. */
  readonly downs: number;
  readonly plannedMs: number;
  readonly unknownMs: number;
}

/** Less unknown time than this is not worth a word: a restart of the exporter takes seconds. */
export const NOTABLE_MS = 60_000;

/** `up 99.986 %, down 2 times, 4 min, unknown 3 h 0 min` */
export function pastWords({ upMs, downMs, downs, plannedMs, unknownMs }: Past): string {
  if (upMs + downMs + plannedMs === 0) return "not known";
  return [
    ...(upMs + downMs === 0 ? [] : [`up ${percent(upMs, downMs)}`]),
    ...(downMs === 0 ? [] : [`down ${downs === 1 ? "once" : `${downs} times`}`, lasted(downMs)]),
    ...(plannedMs === 0 ? [] : [`planned ${lasted(plannedMs)}`]),
    ...(unknownMs < NOTABLE_MS ? [] : [`unknown ${lasted(unknownMs)}`]),
  ].join(", ");
}

/** The first part of both as `99.998 %`, cut: only what was never down is `100 %`. */
export function percent(partMs: number, restMs: number): string {
  if (partMs + restMs === 0) return "–";
  return restMs === 0 ? "100 %" : `${(Math.floor((partMs * 1e5) / (partMs + restMs)) / 1e3).toFixed(3)} %`;
}
