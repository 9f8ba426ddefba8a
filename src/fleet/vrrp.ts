import type { VrrpAnomalyKind, VrrpInterface, VrrpList } from "../api/vrrp.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { Observation } from "../polling/observation.ts";
import { canonicalAddress } from "../support/address.ts";
import type { FleetChange } from "./changes.ts";
import { masterChanges, reportsOf, type SeenGroups } from "./groups.ts";
import {
  afterFailure,
  afterSuccess,
  healthAt,
  isStalled,
  silentSinceMs,
  whileKnown,
  type OperationRecord,
  type RecordStep,
} from "./record.ts";
import { createMemo } from "../support/once.ts";
import type { Identity, InterfaceSnapshot, VrrpListSnapshot, VrrpSnapshot } from "./snapshot.ts";

/** The latest valid list, with what is known of its interfaces from earlier ones. */
export interface SeenVrrp {
  /** As decoded. */
  readonly list: VrrpList;
  readonly interfaces: readonly InterfaceSnapshot[];
  readonly anomalies: VrrpListSnapshot["anomalies"];
  /** Interfaces that the list has in unreadable form, as they were last seen. */
  readonly unreadable: readonly InterfaceSnapshot[];
  readonly groups: SeenGroups;
}

export type VrrpRecord = OperationRecord<SeenVrrp>;

/**
 * The record after one more poll of the list. The state of each interface is compared with the last valid answer; interfaces
 * that a valid answer lacks are forgotten, counters too.
 */
export function afterVrrpPoll(
  record: VrrpRecord,
  observation: Observation & { readonly kind: "vrrp" },
  nowMs: number,
): RecordStep<VrrpRecord> {
  const { outcome, completedAtMs, sentAtMs = nowMs } = observation;
  if (!outcome.ok) return { record: afterFailure(record, observation, outcome.failure, nowMs), changes: [] };
  const list = outcome.value;
  const wasSilent = silentSinceMs(record, nowMs) !== undefined;
  if (record.seen?.list === list) {
    const { groups } = record.seen;
    const changedAtMs = wasSilent ? masterChanges(groups, groups.reports, true, nowMs) : groups.changedAtMs;
    const seen = { ...record.seen, groups: { ...groups, sentAtMs, changedAtMs } };
    return { record: afterSuccess(observation, seen), changes: [] };
  }
  const { interfaces: decoded, unreadable: names } = list;
  const before = [...(record.seen?.interfaces ?? []), ...(record.seen?.unreadable ?? [])];
  const byKey = new Map(before.map((known) => [seriesKey(known.reported), known]));
  const changes: FleetChange[] = [];
  const interfaces = decoded.map((each) => {
    const vip = canonicalAddress(each.vip);
    const reported = vip === each.vip ? each : { ...each, vip };
    const known = byKey.get(seriesKey(reported));
    if (known !== undefined && known.reported.state !== reported.state)
      changes.push(stateChange(reported, known.reported.state));
    return advance(known, reported, completedAtMs);
  });
  const isUnreadable = new Set(names);
  const unreadable = before.filter(({ reported }) => isUnreadable.has(reported.name));
  const reports = reportsOf(interfaces, unreadable);
  const changedAtMs = masterChanges(record.seen?.groups, reports, wasSilent, nowMs);
  const seen = {
    list,
    interfaces,
    unreadable,
    groups: { reports, sentAtMs, changedAtMs },
    anomalies: countAnomalies(list),
  };
  return { record: afterSuccess(observation, seen), changes };
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

function countAnomalies({ anomalies }: VrrpList): Record<VrrpAnomalyKind, number> {
  const counts = { unknown_state: 0, advskew_mismatch: 0, bad_interface: 0, bad_field: 0 };
  for (const { kind } of anomalies) counts[kind] += 1;
  return counts;
}

const onceVrrp = createMemo<VrrpSnapshot>();
const onceList = createMemo<VrrpListSnapshot>();

/** What is true of an appliance's VRRP interfaces at the monotonic instant `nowMs`. */
export function vrrpSection(
  identity: Identity,
  record: VrrpRecord,
  certificate: PresentedCertificate | undefined,
  nowMs: number,
): VrrpSnapshot {
  return onceVrrp(identity, [record, certificate, isStalled(record, nowMs)], () => {
    const health = healthAt(record, nowMs);
    const seen = whileKnown(health, record.seen);
    const list = seen && listSection(identity, seen);
    return { kind: "vrrp", identity, health, list, certificate };
  });
}

function listSection(identity: Identity, { interfaces, anomalies }: SeenVrrp): VrrpListSnapshot {
  return onceList(interfaces, [identity], () => ({ kind: "vrrp_list", identity, interfaces, anomalies }));
}
