import {
  MAX_INTERFACES,
  type Restraint,
  type VrrpAnomaly,
  type VrrpInterface,
  type VrrpList,
} from "../api/vrrp.ts";
import type { Observation } from "../polling/observation.ts";
import { canonicalAddress } from "../../support/address.ts";
import { groupBy } from "../../support/group-by.ts";
import { kept, memo } from "../../support/kept.ts";
import { meaningOf } from "../api/failure.ts";
import {
  answersAfter,
  type Answers,
  type AnswerContent,
  type MemberRole,
  type PollTimes,
} from "./answers.ts";
import { afterPoll, neverPolled, type OperationFacts } from "./operation-facts.ts";
import {
  groupKey,
  type Identity,
  type InterfaceSnapshot,
  type VrrpListSnapshot,
  type VrrpSnapshot,
} from "./snapshot.ts";

/** The latest valid list, with older facts about its interfaces. */
export interface SeenVrrp {
  readonly list: VrrpListSnapshot;
  /** The interfaces that are unreadable in the list, as they were last seen. */
  readonly unreadable: readonly InterfaceSnapshot[];
  /**
   * The reports of the interfaces, in the order of first mention; the same map while the reports are the same. The keys are those of groups:
   * with the name of the interface if the appliance has several interfaces with one VHID and VIP.
   */
  readonly reports: Reports;
  readonly polled: PollTimes;
  /** The monotonic instant at which the poll of the previous valid answer began. */
  readonly sentBeforeMs: number | undefined;
  /**
   * The answers about each group, by the keys of the reports, the latest changed last. Groups that the list lacks are included, since
   * another member may have taken over.
   */
  readonly answersByKey: ReadonlyMap<string, Answers>;
}

/** The last report of an appliance's interface about its group. */
export interface GroupReport extends Pick<VrrpInterface, "name" | "device" | "vhid" | "vip"> {
  /** The VIP, and its aliases in canonical text. */
  readonly addresses: readonly string[];
  /** Whether `addresses` has all addresses, since the aliases are readable. */
  readonly areAddressesKnown: boolean;
  /** The role by the latest valid list; it counts while the list is known. */
  readonly role: MemberRole;
  readonly state: string;
  /** Whether the interface was MASTER when it was last readable. */
  readonly isMaster: boolean;
  readonly priority: number | undefined;
  readonly isFailoverMaster: boolean;
  readonly isDemoted: boolean;
  readonly restraint: Restraint | undefined;
}

export type Reports = ReadonlyMap<string, readonly GroupReport[]>;

export interface VrrpFacts extends VrrpSnapshot, OperationFacts<SeenVrrp> {
  readonly found: SeenVrrp | undefined;
}

/** Returns the facts about an appliance's VRRP interfaces. `last` has the facts before; `undefined` if the appliance was never polled. */
export function vrrpFor(last: VrrpFacts | undefined, identity: Identity, firstExpiryMs: number): VrrpFacts {
  if (last?.identity === identity) return last;
  if (last === undefined) return { kind: "vrrp", identity, ...NEVER_ANSWERED, ...neverPolled(firstExpiryMs) };
  const seen = last.seen && { ...last.seen, list: { ...last.seen.list, identity } };
  return { ...last, identity, seen, found: last.found && seen };
}

const NEVER_ANSWERED = {
  polled: undefined,
  heardMs: undefined,
  lostSentMs: undefined,
  lostSinceMs: undefined,
  certificate: undefined,
} as const;

const KEPT_CHANGES = 5;
/** One list for the many interfaces that never change. */
const NO_CHANGES: readonly number[] = [];

/**
 * Returns the facts after one more poll of the list. The state of each interface is compared with the last valid answer; interfaces that a
 * valid answer lacks are forgotten, including their counters.
 */
export function afterVrrpPoll(
  vrrp: VrrpFacts,
  observation: Observation & { readonly kind: "vrrp" },
  nowMs: number,
): VrrpFacts {
  const { outcome, completedAtMs, sentAtMs = nowMs } = observation;
  if (!outcome.ok) {
    const { appliance } = meaningOf(outcome.failure.reason);
    const { lostSinceMs, lostSentMs } = vrrp;
    const isLost = appliance === "lost" && lostSinceMs === undefined;
    const lost = isLost ? { lostSinceMs: nowMs, lostSentMs: sentAtMs } : { lostSinceMs, lostSentMs };
    const heardMs = appliance === "refused" ? nowMs : vrrp.heardMs;
    return { ...afterPoll(vrrp, observation, nowMs, undefined), ...lost, heardMs };
  }
  const { identity, seen: old } = vrrp;
  const byKey = interfacesByKey(old);
  const interfaces = outcome.value.interfaces.map((each): InterfaceSnapshot => {
    // Canonical texts take a quarter of the time here, so an address that is known as it is written stays as it is.
    const isKnown = byKey.has(seriesKey(each));
    const reported = isKnown ? each : { ...each, vip: canonicalAddress(each.vip) };
    const known = byKey.get(seriesKey(reported));
    if (known === undefined)
      return { reported, transitions: 0, lastTransitionAtMs: undefined, changesMs: NO_CHANGES };
    if (known.reported.state === reported.state) return { ...known, reported };
    const changesMs = [...known.changesMs, nowMs].slice(-KEPT_CHANGES);
    return {
      reported,
      transitions: known.transitions + 1,
      lastTransitionAtMs: completedAtMs,
      changesMs,
    };
  });
  const { demotion, restraint } = outcome.value;
  const anomalies = countAnomalies(outcome.value);
  const list = { kind: "vrrp_list", identity, interfaces, anomalies, demotion, restraint } as const;
  const known = kept(old?.list, list);
  const unreadable = unreadableIn(outcome.value, byKey);
  const reports = reportsOf(known, { list: known, unreadable });
  const polled = { sentMs: sentAtMs, endedMs: nowMs };
  const answersByKey = answersByKeyAfter(vrrp, reports, polled);
  const seen = { list: known, unreadable, reports, polled, sentBeforeMs: old?.polled.sentMs, answersByKey };
  const answered = { polled, heardMs: nowMs, lostSinceMs: undefined, lostSentMs: undefined };
  return { ...afterPoll(vrrp, observation, nowMs, seen), ...answered };
}

/** Returns the interfaces that a list has, but not readably, as they were last seen. */
function unreadableIn(
  { interfaces, unreadable, hasUnnamed = false }: VrrpList,
  byKey: ReturnType<typeof interfacesByKey>,
): readonly InterfaceSnapshot[] {
  const [names, readable] = [new Set(unreadable), new Set(interfaces.map(({ name }) => name))];
  const isUnreadable = ({ reported: { name } }: InterfaceSnapshot): boolean =>
    names.has(name) || (hasUnnamed && !readable.has(name));
  return [...byKey.values()].filter(isUnreadable).slice(0, MAX_INTERFACES);
}

/** Returns the interfaces as they were last seen, also those that are unreadable in the latest list. @see seriesKey */
export function interfacesByKey(seen: SeenVrrp | undefined): ReadonlyMap<string, InterfaceSnapshot> {
  const known = seen === undefined ? [] : [...seen.list.interfaces, ...seen.unreadable];
  return new Map(known.map((each) => [seriesKey(each.reported), each]));
}

/** Interfaces with the same labels are the same interface. */
export function seriesKey({ name, vhid, vip }: VrrpInterface): string {
  return `${vhid} ${vip.length} ${vip} ${name}`;
}

function countAnomalies({ anomalies }: VrrpList): Record<VrrpAnomaly, number> {
  const counts = { unknown_state: 0, advskew_mismatch: 0, bad_interface: 0, bad_field: 0 };
  for (const anomaly of anomalies) counts[anomaly] += 1;
  return counts;
}

const reportsOf = memo(({ list, unreadable }: Pick<SeenVrrp, "list" | "unreadable">): Reports => {
  const readable = list.interfaces.map(({ reported }) => reportOf(reported, list, roleIn(reported)));
  const readableBefore = unreadable.map(({ reported }) => reportOf(reported, list, "unknown"));
  const all = [...readable, ...readableBefore];
  const alike = groupBy(all, groupKey);
  if (alike.size === all.length) return alike;
  return groupBy(all, (report) => {
    const key = groupKey(report);
    return alike.get(key)?.length === 1 ? key : groupKey({ ...report, interface: report.name });
  });
});

function reportOf(
  reported: VrrpInterface,
  { demotion = 0, restraint }: Pick<VrrpListSnapshot, "demotion" | "restraint">,
  role: MemberRole,
): GroupReport {
  const {
    name,
    device,
    vhid,
    vip,
    state,
    priority,
    configuredRole,
    aliases,
    isOutOfOrder = false,
  } = reported;
  const [isMaster, isFailoverMaster] = [state === "MASTER", configuredRole === "master"];
  const addresses = [vip, ...(aliases ?? []).map(canonicalAddress)];
  const areAddressesKnown = aliases !== undefined;
  const group = { name, device, vhid, vip, addresses, areAddressesKnown };
  return {
    ...group,
    role,
    state,
    isMaster,
    priority,
    isFailoverMaster,
    isDemoted: demotion !== 0 || isOutOfOrder,
    restraint,
  };
}

function roleIn({ state }: VrrpInterface): MemberRole {
  return state === "MASTER" ? "master" : state === "BACKUP" ? "backup" : "other";
}

/** The roles, strongest first. If an appliance has several interfaces in one group, the first of these roles counts. */
export const STRONGEST_FIRST: readonly MemberRole[] = ["master", "unknown", "backup", "other"];

/** This is twice as many as a list may have, since an appliance may invent others at each poll. */
const MAX_KEYS = 2048;

/** Returns the answers after one more valid one. Answers about groups that are the same until now and then share a list. */
function answersByKeyAfter(
  { seen: old, health, silentSinceMs, lostSinceMs, lostSentMs }: VrrpFacts,
  reports: Reports,
  polled: PollTimes,
): SeenVrrp["answersByKey"] {
  const isBack = health.state === "failed" && silentSinceMs !== undefined;
  if (old !== undefined && !isBack && reports === old.reports) return old.answersByKey;
  const unwatched = health.failure?.reason === "not_scheduled" ? ({ isUnwatched: true } as const) : {};
  const after = isBack ? { sinceMs: silentSinceMs, lostSinceMs, lostSentMs, ...unwatched } : undefined;
  const made = new Map<Answers | undefined, Map<string, Answers>>();
  const answersByKey = new Map(old?.answersByKey);
  for (const key of new Set([...(old?.reports.keys() ?? []), ...reports.keys()])) {
    const before = answersByKey.get(key);
    const fact = factOf(reports.get(key), before?.at(-1));
    const alike = made.get(before) ?? new Map<string, Answers>();
    made.set(before, alike);
    const { role, state, isMaster, priority = "" } = fact;
    const text = `${role} ${isMaster} ${priority} ${state}`;
    const now = alike.get(text) ?? answersAfter(before, fact, { polled, before: old?.polled, after });
    alike.set(text, now);
    if (now === before) continue;
    answersByKey.delete(key);
    answersByKey.set(key, now);
  }
  for (const key of answersByKey.keys()) if (answersByKey.size > MAX_KEYS) answersByKey.delete(key);
  return answersByKey;
}

const ABSENT: AnswerContent = { role: "absent", state: "", isMaster: false, priority: undefined };

function factOf(
  reports: readonly GroupReport[] | undefined,
  before: AnswerContent | undefined,
): AnswerContent {
  if (reports === undefined) return ABSENT;
  const role = STRONGEST_FIRST.find((one) => reports.some((report) => report.role === one)) ?? "unknown";
  const isMaster = reports.some((report) => report.isMaster);
  const { state = "", priority } = reports.find((report) => report.role === role) ?? {};
  if (role === "unknown") return { role, state: "", isMaster, priority: before?.priority };
  return { role, state, isMaster, priority };
}
