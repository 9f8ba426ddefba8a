import type { FleetChange } from "../fleet/changes.ts";
import type { Identity } from "../fleet/snapshot.ts";
import type { Moment } from "./moment.ts";
import type { GroupRef } from "./presence.ts";

const WINDOW_MS = 300_000;
const MANY = 4;
/** Remembered at most, of the whole fleet. */
const MAX_TRANSITIONS = 10_000;

/** An appliance's change of state in a group. */
export interface Flap extends GroupRef, Pick<Identity, "cluster" | "appliance"> {
  readonly at: Moment;
}

/** Changes of state within the last five minutes, after those of one more poll. */
export function afterChanges(
  before: readonly Flap[],
  { cluster, appliance }: Identity,
  changes: readonly FleetChange[],
  at: Moment,
): readonly Flap[] {
  const fresh = changes.flatMap((change) =>
    change.kind === "vrrp_state" ? [{ cluster, appliance, vhid: change.vhid, vip: change.vip, at }] : [],
  );
  return fresh.length === 0
    ? before
    : [...before.filter((flap) => isRecent(flap, at.monotonicMs)), ...fresh].slice(-MAX_TRANSITIONS);
}

/**
 * The first change of each appliance and group that has changed four times or more within the five minutes before the
 * monotonic instant `nowMs`.
 */
export function flappingIn(flaps: readonly Flap[], nowMs: number): readonly Flap[] {
  const byMember = new Map<string, Flap[]>();
  for (const flap of flaps.filter((one) => isRecent(one, nowMs))) {
    const key = JSON.stringify([flap.cluster, flap.appliance, flap.vhid, flap.vip]);
    const others = byMember.get(key);
    if (others === undefined) byMember.set(key, [flap]);
    else others.push(flap);
  }
  return [...byMember.values()].filter(({ length }) => length >= MANY).flatMap((all) => all.slice(0, 1));
}

function isRecent({ at }: Flap, nowMs: number): boolean {
  return nowMs - at.monotonicMs < WINDOW_MS;
}
