import { groupKey, type GroupSnapshot, type MemberRole, type MemberSnapshot } from "./snapshot.ts";
import type { SeenInterface } from "./transitions.ts";

/** What an appliance reported of one group last, over all of its interfaces in it. */
export interface GroupReport extends Pick<GroupSnapshot, "vhid" | "vip"> {
  /** While its list is known. */
  readonly role: MemberRole;
  /** Whether any interface was MASTER when it was last readable. */
  readonly isMastered: boolean;
  /** The highest one. */
  readonly priority: number | undefined;
  readonly isFailoverMaster: boolean;
}

/** By `groupKey`, in the order of first mention. */
export type GroupReports = ReadonlyMap<string, GroupReport>;

/** Of several interfaces in one group the strongest decides. */
const STRENGTH: Readonly<Record<MemberRole, number>> = { other: 0, backup: 1, unknown: 2, master: 3 };

export function reportsOf(seen: readonly SeenInterface[]): GroupReports {
  const reports = new Map<string, GroupReport>();
  for (const each of seen) {
    const key = groupKey(each.reported);
    const known = reports.get(key);
    reports.set(key, known === undefined ? reportOf(each) : together(known, reportOf(each)));
  }
  return reports;
}

function reportOf({ reported, isReadable }: SeenInterface): GroupReport {
  const { vhid, vip, state, priority, type } = reported;
  const isMastered = state === "MASTER";
  const role = isMastered ? "master" : state === "BACKUP" ? "backup" : "other";
  return {
    vhid,
    vip,
    role: isReadable ? role : "unknown",
    isMastered,
    priority,
    isFailoverMaster: type === "1",
  };
}

function together(one: GroupReport, other: GroupReport): GroupReport {
  return {
    ...one,
    role: STRENGTH[one.role] < STRENGTH[other.role] ? other.role : one.role,
    isMastered: one.isMastered || other.isMastered,
    priority: highest([one.priority, other.priority]),
    isFailoverMaster: one.isFailoverMaster || other.isFailoverMaster,
  };
}

function highest(priorities: readonly (number | undefined)[]): number | undefined {
  const known = priorities.filter((priority) => priority !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** An appliance as its cluster's groups see it. */
export interface Member {
  readonly appliance: string;
  /** Whether its VRRP list is known now. */
  readonly isKnown: boolean;
  /** Of its last good answer; `undefined` if there was none yet. */
  readonly reports: GroupReports | undefined;
  /** The monotonic instant at which that answer was learned. */
  readonly learnedAtMs: number | undefined;
  /** For how long that answer counts. */
  readonly countsForMs: number | undefined;
  /** By group, the monotonic instant at which it was last seen to become MASTER or to cease to be. */
  readonly masteryChangedAtMs: ReadonlyMap<string, number> | undefined;
}

/** The groups of a cluster, and what they were made of. */
export interface Groups {
  readonly members: readonly Member[];
  /** By key, in the order of first mention. */
  readonly byKey: ReadonlyMap<string, GroupSnapshot>;
}

/**
 * The VRRP groups of one cluster: every one that a member was last seen in, in the order of first mention. A group that is
 * as it was `before` is the same object. Only groups of members whose answer is new are made anew: with thousands of groups
 * the rest would block the event loop at each poll.
 */
export function groupsOf(members: readonly Member[], before?: Groups): Groups {
  const changed = changedKeys(before?.members, members);
  const groupAt = (key: string): GroupSnapshot => {
    const known = before?.byKey.get(key);
    if (known !== undefined && changed?.has(key) === false) return known;
    const standings = standingsIn(members, key);
    const group = groupOf(key, standings, agreementOf(standings, lastChangeMs(members, key)));
    return known !== undefined && isSameGroup(known, group) ? known : group;
  };
  const byKey = new Map<string, GroupSnapshot>();
  for (const { reports } of members)
    for (const key of reports?.keys() ?? []) if (!byKey.has(key)) byKey.set(key, groupAt(key));
  return { members, byKey };
}

/** Of all members, those that have left the group included. */
function lastChangeMs(members: readonly Member[], key: string): number {
  let last = Number.NEGATIVE_INFINITY;
  for (const { masteryChangedAtMs } of members) last = Math.max(last, masteryChangedAtMs?.get(key) ?? last);
  return last;
}

/** The groups that a change of the members can have changed; `undefined`: any. */
function changedKeys(
  before: readonly Member[] | undefined,
  members: readonly Member[],
): ReadonlySet<string> | undefined {
  if (before?.length !== members.length) return undefined;
  const keys = new Set<string>();
  for (const [index, member] of members.entries()) {
    const old = before[index];
    // A member that was never seen counts in every group.
    if (old?.appliance !== member.appliance || old.reports === undefined) return undefined;
    if (old.reports === member.reports && old.isKnown === member.isKnown) continue;
    for (const map of [old.reports, member.reports, old.masteryChangedAtMs, member.masteryChangedAtMs])
      for (const key of map?.keys() ?? []) keys.add(key);
  }
  return keys;
}

/** One member in one group. */
interface Standing extends MemberSnapshot {
  readonly member: Member;
  /** `undefined` for an appliance that was never seen. */
  readonly report: GroupReport | undefined;
  /** When it was last seen to become MASTER or to cease to be. */
  readonly changedAtMs: number;
}

function standingsIn(members: readonly Member[], key: string): readonly Standing[] {
  const standings: Standing[] = [];
  for (const member of members) {
    const { appliance, reports, isKnown, masteryChangedAtMs } = member;
    const report = reports?.get(key);
    if (reports !== undefined && report === undefined) continue;
    const role = isKnown && report !== undefined ? report.role : "unknown";
    const changedAtMs = masteryChangedAtMs?.get(key) ?? Number.NEGATIVE_INFINITY;
    standings.push({ appliance, role, priority: report?.priority, member, report, changedAtMs });
  }
  return standings;
}

type Agreement = Pick<GroupSnapshot, "isSettled" | "notHeardSince">;
const AGREED: Agreement = { isSettled: true, notHeardSince: [] };

/** Considers this group only, whatever happens to the others of its cluster. Monotonic instants. */
function agreementOf(standings: readonly Standing[], changedAtMs: number): Agreement {
  if (changedAtMs === Number.NEGATIVE_INFINITY) return AGREED;
  const heard = standings.filter(({ member, report }) => member.isKnown && report !== undefined);
  const behind = heard.filter((standing) => learnedAtMs(standing) < changedAtMs);
  const isSettled = behind.length === 0 || areMastersAtOnce(heard);
  return { isSettled, notHeardSince: behind.map(({ appliance }) => appliance) };
}

function learnedAtMs({ member }: Standing): number {
  return member.learnedAtMs ?? Number.NEGATIVE_INFINITY;
}

/** Whether any two were heard as MASTER each since the other became it, whatever a third one does. */
function areMastersAtOnce(heard: readonly Standing[]): boolean {
  const masters = heard.filter(({ role }) => role === "master");
  const isSince = (one: Standing, other: Standing): boolean => other.changedAtMs <= learnedAtMs(one);
  return masters.some((one) =>
    masters.some((other) => one !== other && isSince(one, other) && isSince(other, one)),
  );
}

function groupOf(key: string, standings: readonly Standing[], agreement: Agreement): GroupSnapshot {
  const first = standings.find(({ report }) => report !== undefined)?.report;
  const members = standings.map(({ appliance, role, priority }) => ({ appliance, role, priority }));
  const missing = standings.filter(({ role }) => role === "unknown");
  const missedForMs = Math.max(0, ...missing.map(({ member }) => member.countsForMs ?? 0));
  const isPreferredMaster = preferredMaster(standings);
  const name = { key, vhid: first?.vhid ?? 0, vip: first?.vip ?? "" };
  return { ...name, members, ...agreement, missedForMs, isPreferredMaster };
}

/**
 * Whether the one MASTER is preferred: by its configured type where exactly one member is FAILOVER MASTER, else by the
 * highest priority, which may be shared. Members count with what they reported last, even while unknown.
 */
function preferredMaster(standings: readonly Standing[]): boolean | undefined {
  const [master, ...others] = standings.filter(({ role }) => role === "master");
  if (master === undefined || others.length > 0) return undefined;
  const failoverMasters = standings.filter(({ report }) => report?.isFailoverMaster === true);
  if (failoverMasters.length === 1) return failoverMasters[0] === master;
  if (master.priority === undefined) return undefined;
  return master.priority === highest(standings.map(({ priority }) => priority));
}

/** Of two groups with one key. */
function isSameGroup(one: GroupSnapshot, other: GroupSnapshot): boolean {
  return (
    one.isSettled === other.isSettled &&
    one.isPreferredMaster === other.isPreferredMaster &&
    one.missedForMs === other.missedForMs &&
    one.members.length === other.members.length &&
    one.notHeardSince.length === other.notHeardSince.length &&
    one.members.every((member, index) => isSameStanding(member, other.members[index])) &&
    one.notHeardSince.every((name, index) => name === other.notHeardSince[index])
  );
}

function isSameStanding(one: MemberSnapshot, other: MemberSnapshot | undefined): boolean {
  return one.appliance === other?.appliance && one.role === other.role && one.priority === other.priority;
}
