import type { GroupReports } from "./groups.ts";

interface SeenBefore {
  readonly reports: GroupReports;
  readonly masteryChangedAtMs: ReadonlyMap<string, number>;
}

/** Groups that an appliance has left and that still count: it may report others each time. */
const MAX_LEFT = 1024;

/**
 * By group, when an appliance was last seen to become MASTER or to cease to be, after one more good answer at the monotonic
 * instant `nowMs`. The first sight of an appliance is no change; groups that it has left are forgotten after `keptMs`.
 */
export function masteryChanges(
  before: SeenBefore | undefined,
  reports: GroupReports,
  nowMs: number,
  keptMs: number,
): ReadonlyMap<string, number> {
  if (before === undefined) return new Map();
  const wasMaster = (key: string): boolean => before.reports.get(key)?.isMastered === true;
  const isMaster = (key: string): boolean => reports.get(key)?.isMastered === true;
  const left = [...before.reports.keys()].filter((key) => !reports.has(key) && wasMaster(key));
  const changed = [...reports.keys()].filter((key) => wasMaster(key) !== isMaster(key));
  const known = [...before.masteryChangedAtMs];
  const leftBefore = known.filter(([key, atMs]) => !reports.has(key) && nowMs - atMs < keptMs);
  const leftNow = new Map([...leftBefore, ...left.map((key) => [key, nowMs] as const)]);
  return new Map([
    ...[...leftNow].slice(-MAX_LEFT),
    ...known.filter(([key]) => reports.has(key)),
    ...changed.map((key) => [key, nowMs] as const),
  ]);
}
