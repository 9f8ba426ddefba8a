import type { VrrpAnomaly, VrrpInterface, VrrpList } from "../api/vrrp.ts";
import type { Observation } from "../polling/observation.ts";
import { canonicalAddress } from "../support/address.ts";
import { keptEqual } from "../support/kept.ts";
import type { FleetChange } from "./changes.ts";
import { masterChanges, reportsOf, type SeenGroups } from "./groups.ts";
import {
  afterFailure,
  afterSuccess,
  freshRecord,
  recordAt,
  whileKnown,
  type OperationRecord,
  type Step,
} from "./record.ts";
import type { Identity, InterfaceSnapshot, VrrpListSnapshot, VrrpSnapshot } from "./snapshot.ts";

/** The latest valid list, with what is known of its interfaces from earlier ones. */
export interface SeenVrrp {
  readonly list: VrrpListSnapshot;
  /** Interfaces that the list has in unreadable form, as they were last seen. */
  readonly unreadable: readonly InterfaceSnapshot[];
  readonly groups: SeenGroups;
}

export interface VrrpState extends VrrpSnapshot, OperationRecord<SeenVrrp> {}

/** The VRRP interfaces of an appliance; `last`: before, `undefined` if it was never polled. */
export function vrrpFor(last: VrrpState | undefined, identity: Identity, firstExpiryMs: number): VrrpState {
  if (last?.identity === identity) return last;
  if (last === undefined)
    return { kind: "vrrp", identity, ...freshRecord(firstExpiryMs), list: undefined, certificate: undefined };
  const { seen } = last;
  return shown({ ...last, identity, seen: seen && { ...seen, list: { ...seen.list, identity } } });
}

/** The same at the monotonic instant `nowMs`. */
export function vrrpAt(vrrp: VrrpState, nowMs: number): VrrpState {
  const now = recordAt(vrrp, nowMs);
  return now === vrrp ? vrrp : shown(now);
}

function shown(vrrp: VrrpState): VrrpState {
  return { ...vrrp, list: whileKnown(vrrp)?.list };
}

/**
 * What is known after one more poll of the list. The state of each interface is compared with the last valid answer; interfaces
 * that a valid answer lacks are forgotten, counters too.
 */
export function afterVrrpPoll(
  vrrp: VrrpState,
  observation: Observation & { readonly kind: "vrrp" },
  nowMs: number,
): Step<VrrpState> {
  const { outcome, completedAtMs, sentAtMs = nowMs } = observation;
  if (!outcome.ok)
    return { state: shown(afterFailure(vrrp, observation, outcome.failure, nowMs)), changes: [] };
  const { identity, seen: old } = vrrp;
  const before = [...(old?.list.interfaces ?? []), ...(old?.unreadable ?? [])];
  const byKey = new Map(before.map((known) => [seriesKey(known.reported), known]));
  const changes: FleetChange[] = [];
  const interfaces = outcome.value.interfaces.map((each) => {
    const reported = { ...each, vip: canonicalAddress(each.vip) };
    const known = byKey.get(seriesKey(reported));
    if (known !== undefined && known.reported.state !== reported.state)
      changes.push(stateChange(reported, known.reported.state));
    return advance(known, reported, completedAtMs);
  });
  const list = { kind: "vrrp_list", identity, interfaces, anomalies: countAnomalies(outcome.value) } as const;
  const isUnreadable = new Set(outcome.value.unreadable);
  const unreadable = before.filter(({ reported }) => isUnreadable.has(reported.name));
  const reports = reportsOf(interfaces, unreadable);
  const changedAtMs = masterChanges(old?.groups, reports, vrrp.silentSinceMs !== undefined, nowMs);
  const seen = {
    list: keptEqual(old?.list, list),
    unreadable,
    groups: { reports, sentAtMs, changedAtMs },
  };
  return { state: shown(afterSuccess(vrrp, observation, seen)), changes };
}

/** Interfaces with the same labels are the same interface. */
function seriesKey({ name, vhid, vip }: VrrpInterface): string {
  return JSON.stringify([name, vhid, vip]);
}

function stateChange({ name, vhid, vip, state }: VrrpInterface, from: string): FleetChange {
  return { kind: "vrrp_state", interface: name, vhid, vip, from, to: state };
}

function advance(
  known: InterfaceSnapshot | undefined,
  reported: VrrpInterface,
  atMs: number,
): InterfaceSnapshot {
  if (known === undefined) return { reported, transitions: 0, lastTransitionAtMs: undefined };
  if (known.reported.state === reported.state) return { ...known, reported };
  return { ...known, reported, transitions: known.transitions + 1, lastTransitionAtMs: atMs };
}

function countAnomalies({ anomalies }: VrrpList): Record<VrrpAnomaly, number> {
  const counts = { unknown_state: 0, advskew_mismatch: 0, bad_interface: 0, bad_field: 0 };
  for (const anomaly of anomalies) counts[anomaly] += 1;
  return counts;
}
