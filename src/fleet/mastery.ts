import type { VrrpInterface } from "../api/vrrp-list.ts";
import type { SeenInterface } from "./transitions.ts";

/** Tells the groups of a cluster apart; `vip` in canonical text. */
export function groupKey({ vhid, vip }: Pick<VrrpInterface, "vhid" | "vip">): string {
  return `${vhid} ${vip}`;
}

interface SeenBefore {
  readonly interfaces: readonly SeenInterface[];
  readonly masteryChangedAtMs: ReadonlyMap<string, number>;
}

/**
 * By group, when an appliance was last seen to become MASTER or to cease to be, after one more good answer at the monotonic
 * instant `nowMs`. The first sight of an appliance is no change; groups that it has left are forgotten after `keptMs`.
 */
export function masteryChanges(
  before: SeenBefore | undefined,
  seen: readonly SeenInterface[],
  nowMs: number,
  keptMs: number,
): ReadonlyMap<string, number> {
  if (before === undefined) return new Map();
  const [was, is] = [masteredIn(before.interfaces), masteredIn(seen)];
  const present = new Set(seen.map(({ reported }) => groupKey(reported)));
  const kept = [...before.masteryChangedAtMs].filter(
    ([key, atMs]) => present.has(key) || nowMs - atMs < keptMs,
  );
  const changed = [...was, ...is].filter((key) => was.has(key) !== is.has(key));
  return new Map([...kept, ...changed.map((key) => [key, nowMs] as const)]);
}

function masteredIn(interfaces: readonly SeenInterface[]): ReadonlySet<string> {
  const masters = interfaces.filter(({ reported }) => reported.state === "MASTER");
  return new Set(masters.map(({ reported }) => groupKey(reported)));
}
