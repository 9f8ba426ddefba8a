import type { VrrpAnomaly, VrrpInterface, VrrpList } from "../api/vrrp.ts";
import type { Observation } from "../polling/observation.ts";
import { canonicalAddress } from "../support/address.ts";
import { groupBy } from "../support/group-by.ts";
import { kept, memo } from "../support/kept.ts";
import type { FleetChange, Step } from "./changes.ts";
import { afterPoll, freshRecord, type OperationRecord } from "./record.ts";
import {
  groupKey,
  type GroupSnapshot,
  type Identity,
  type InterfaceSnapshot,
  type MemberRole,
  type VrrpListSnapshot,
  type VrrpSnapshot,
} from "./snapshot.ts";

/** The latest valid list, with what is known of its interfaces from earlier ones. */
interface SeenVrrp {
  readonly list: VrrpListSnapshot;
  /** Interfaces that the list has in unreadable form, as they were last seen. */
  readonly unreadable: readonly InterfaceSnapshot[];
  /** What its interfaces say, by the `groupKey` of each, in the order of first mention; the same map while they say the same. */
  readonly reports: Reports;
  /** The monotonic instant at which the poll began, and that of the valid answer before. */
  readonly sentAtMs: number;
  readonly sentBeforeMs: number | undefined;
  /** By group, the latest changed last; also of groups that the list lacks: another member may have taken over. */
  readonly masterChanges: ReadonlyMap<string, MasterChanges>;
}

/** Monotonic instants at which changes of an appliance in a group were learned. */
interface MasterChanges {
  /** When it became MASTER or stopped being MASTER, the latest three times. A MASTER that is seen for the first time is one. */
  readonly switchedAtMs: readonly number[];
  /** The latest of these, or when it answered again after it was silent, when it may have been either. */
  readonly changedAtMs: number;
}

/** Holds what an interface of an appliance last said of its group. */
export interface GroupReport extends Pick<GroupSnapshot, "vhid" | "vip"> {
  readonly interfaces: readonly string[];
  /** The VIP, and its aliases in canonical text. */
  readonly addresses: readonly string[];
  /** Whether these are all: its aliases are readable. */
  readonly areAddressesKnown: boolean;
  /** While the list is known. */
  readonly role: MemberRole;
  /** Whether the interface was MASTER when it was last readable. */
  readonly isMaster: boolean;
  readonly priority: number | undefined;
  readonly isFailoverMaster: boolean;
}

export type Reports = ReadonlyMap<string, readonly GroupReport[]>;

export interface VrrpRecord extends VrrpSnapshot, OperationRecord<SeenVrrp> {
  readonly found: SeenVrrp | undefined;
}

/** The VRRP interfaces of an appliance; `last`: before, `undefined` if it was never polled. */
export function vrrpFor(last: VrrpRecord | undefined, identity: Identity, firstExpiryMs: number): VrrpRecord {
  if (last?.identity === identity) return last;
  if (last === undefined)
    return { kind: "vrrp", identity, ...freshRecord(firstExpiryMs), certificate: undefined };
  const seen = last.seen && { ...last.seen, list: { ...last.seen.list, identity } };
  return { ...last, identity, seen, found: last.found && seen };
}

/**
 * Returns what is known after one more poll of the list. The state of each interface is compared with the last valid answer; interfaces
 * that a valid answer lacks are forgotten, counters too.
 */
export function afterVrrpPoll(
  vrrp: VrrpRecord,
  observation: Observation & { readonly kind: "vrrp" },
  nowMs: number,
): Step<VrrpRecord> {
  const { outcome, completedAtMs, sentAtMs = nowMs } = observation;
  if (!outcome.ok) return { state: afterPoll(vrrp, observation, nowMs, undefined), changes: [] };
  const { identity, seen: old } = vrrp;
  const before = [...(old?.list.interfaces ?? []), ...(old?.unreadable ?? [])];
  const byKey = new Map(before.map((known) => [seriesKey(known.reported), known]));
  const changes: FleetChange[] = [];
  const interfaces = outcome.value.interfaces.map((each): InterfaceSnapshot => {
    // Canonical texts take a quarter of the time; an address that is known as it is written is one.
    const isKnown = byKey.has(seriesKey(each));
    const reported = isKnown ? each : { ...each, vip: canonicalAddress(each.vip) };
    const { name, vhid, vip, state } = reported;
    const known = byKey.get(seriesKey(reported));
    if (known === undefined) return { reported, transitions: 0, lastTransitionAtMs: undefined };
    const from = known.reported.state;
    if (from === state) return { ...known, reported };
    changes.push({ kind: "vrrp_state", interface: name, vhid, vip, from, to: state });
    return { reported, transitions: known.transitions + 1, lastTransitionAtMs: completedAtMs };
  });
  const list = { kind: "vrrp_list", identity, interfaces, anomalies: countAnomalies(outcome.value) } as const;
  const isUnreadable = new Set(outcome.value.unreadable);
  const unreadable = before.filter(({ reported }) => isUnreadable.has(reported.name));
  const known = kept(old?.list, list);
  const reports = reportsOf(known, { list: known, unreadable });
  const sent = { sentAtMs, sentBeforeMs: old?.sentAtMs };
  const masterChanges = masterChangesAfter(vrrp, reports, nowMs);
  const seen = { list: known, unreadable, reports, ...sent, masterChanges };
  return { state: afterPoll(vrrp, observation, nowMs, seen), changes };
}

/** Interfaces with the same labels are the same interface. */
function seriesKey({ name, vhid, vip }: VrrpInterface): string {
  return `${vhid} ${vip.length} ${vip} ${name}`;
}

function countAnomalies({ anomalies }: VrrpList): Record<VrrpAnomaly, number> {
  const counts = { unknown_state: 0, advskew_mismatch: 0, bad_interface: 0, bad_field: 0 };
  for (const anomaly of anomalies) counts[anomaly] += 1;
  return counts;
}

const reportsOf = memo(({ list, unreadable }: Pick<SeenVrrp, "list" | "unreadable">): Reports => {
  const said = list.interfaces.map(({ reported }) => reportOf(reported, roleIn(reported)));
  const saidBefore = unreadable.map(({ reported }) => reportOf(reported, "unknown"));
  return groupBy([...said, ...saidBefore], groupKey);
});

function reportOf(reported: VrrpInterface, role: MemberRole): GroupReport {
  const { name, vhid, vip, state, priority, configuredRole, aliases } = reported;
  const [isMaster, isFailoverMaster] = [state === "MASTER", configuredRole === "master"];
  const addresses = [vip, ...(aliases ?? []).map(canonicalAddress)];
  const areAddressesKnown = aliases !== undefined;
  const group = { vhid, vip, addresses, areAddressesKnown };
  return { interfaces: [name], ...group, role, isMaster, priority, isFailoverMaster };
}

function roleIn({ state }: VrrpInterface): MemberRole {
  return state === "MASTER" ? "master" : state === "BACKUP" ? "backup" : "other";
}

/** Twice as many as a list may have: an appliance may invent others at each poll. */
const MAX_CHANGED_GROUPS = 2048;

/** The latest changes after one more valid answer, learned at the monotonic instant `nowMs`. */
function masterChangesAfter(
  { seen: before, health }: VrrpRecord,
  reports: Reports,
  nowMs: number,
): SeenVrrp["masterChanges"] {
  const wasSilent = health.state === "failed";
  const changes = new Map(before?.masterChanges);
  for (const key of new Set([...(before?.reports.keys() ?? []), ...reports.keys()])) {
    const [wasMaster, isMaster] = [before?.reports, reports].map(
      (of) => of?.get(key)?.some((report) => report.isMaster) === true,
    );
    if (wasMaster === isMaster && !wasSilent) continue;
    const { switchedAtMs = [] } = changes.get(key) ?? {};
    const switches = wasMaster === isMaster ? switchedAtMs : [...switchedAtMs.slice(-2), nowMs];
    changes.delete(key);
    changes.set(key, { switchedAtMs: switches, changedAtMs: nowMs });
  }
  for (const key of changes.keys()) if (changes.size > MAX_CHANGED_GROUPS) changes.delete(key);
  return changes;
}
