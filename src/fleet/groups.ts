import type { VrrpInterface } from "../api/vrrp-list.ts";
import { groupKey } from "./mastery.ts";
import type { GroupSnapshot, MemberRole, MemberSnapshot } from "./snapshot.ts";
import type { SeenInterface } from "./transitions.ts";

/** An appliance as its cluster's groups see it. */
export interface Member {
  readonly appliance: string;
  /** Whether its VRRP list is known now. */
  readonly isKnown: boolean;
  /** What its last good answer held; `undefined` if there was none yet. */
  readonly seen: readonly SeenInterface[] | undefined;
  /** The monotonic instant at which that answer was learned. */
  readonly learnedAtMs: number | undefined;
  /** For how long that answer counts. */
  readonly countsForMs: number | undefined;
  /** By group, the monotonic instant at which it was last seen to become MASTER or to cease to be. */
  readonly masteryChangedAtMs: ReadonlyMap<string, number> | undefined;
}

/** The VRRP groups of one cluster: every one that a member was last seen in, in the order of first mention. */
export function groupsOf(members: readonly Member[]): readonly GroupSnapshot[] {
  const sorted = members.map(({ seen, ...member }) => ({ ...member, groups: seen && byGroup(seen) }));
  const keys = new Set(sorted.flatMap(({ groups }) => [...(groups?.keys() ?? [])]));
  return [...keys].flatMap((key) => {
    const [first] = sorted.flatMap(({ groups }) => groups?.get(key)?.slice(0, 1) ?? []);
    return first === undefined
      ? []
      : groupOf(first.reported, standings(sorted, key), agreementOf(sorted, key));
  });
}

type Agreement = Pick<GroupSnapshot, "isSettled" | "notHeardSince">;

/** A member of a group whose list is known now. Monotonic instants. */
interface Heard {
  readonly appliance: string;
  readonly isMaster: boolean;
  readonly learnedAtMs: number;
  readonly changedAtMs: number;
}

/** Of this group alone: what happens to the others of its cluster has no part in it. */
function agreementOf(members: readonly SortedMember[], key: string): Agreement {
  const heard = members.flatMap((member) => heardIn(member, key));
  const changes = members.flatMap(({ masteryChangedAtMs }) => masteryChangedAtMs?.get(key) ?? []);
  const lastChangeMs = Math.max(...changes, Number.NEGATIVE_INFINITY);
  const behind = heard.filter(({ learnedAtMs }) => learnedAtMs < lastChangeMs);
  const isSettled = behind.length === 0 || areMastersAtOnce(heard);
  return { isSettled, notHeardSince: behind.map(({ appliance }) => appliance) };
}

function heardIn(member: SortedMember, key: string): readonly Heard[] {
  const { appliance, isKnown, groups, learnedAtMs, masteryChangedAtMs } = member;
  const here = groups?.get(key);
  if (!isKnown || here === undefined || learnedAtMs === undefined) return [];
  const changedAtMs = masteryChangedAtMs?.get(key) ?? Number.NEGATIVE_INFINITY;
  return [{ appliance, isMaster: roleOf(here) === "master", learnedAtMs, changedAtMs }];
}

/** Whether any two were heard as MASTER each since the other became it, whatever a third one does. */
function areMastersAtOnce(heard: readonly Heard[]): boolean {
  const masters = heard.filter(({ isMaster }) => isMaster);
  const isSince = (one: Heard, other: Heard): boolean => other.changedAtMs <= one.learnedAtMs;
  return masters.some((one) =>
    masters.some((other) => one !== other && isSince(one, other) && isSince(other, one)),
  );
}

interface SortedMember extends Omit<Member, "seen"> {
  /** Its interfaces by group, once for all groups; `undefined` if it was never seen. */
  readonly groups: ReadonlyMap<string, readonly SeenInterface[]> | undefined;
}

function byGroup(seen: readonly SeenInterface[]): ReadonlyMap<string, readonly SeenInterface[]> {
  const groups = new Map<string, SeenInterface[]>();
  for (const each of seen) {
    const key = groupKey(each.reported);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return groups;
}

/** One member in one group. */
interface Standing extends MemberSnapshot {
  readonly isFailoverMaster: boolean;
  readonly countsForMs: number;
}

function standings(members: readonly SortedMember[], key: string): readonly Standing[] {
  return members.flatMap(({ appliance, isKnown, groups, countsForMs = 0 }) => {
    const here = groups?.get(key);
    if (groups !== undefined && here === undefined) return [];
    const role = isKnown && here !== undefined ? roleOf(here) : "unknown";
    const priorities = (here ?? []).flatMap(({ reported }) => reported.priority ?? []);
    return {
      appliance,
      role,
      countsForMs,
      isFailoverMaster: (here ?? []).some(({ reported }) => reported.type === "1"),
      priority: priorities.length === 0 ? undefined : Math.max(...priorities),
    };
  });
}

function roleOf(interfaces: readonly SeenInterface[]): MemberRole {
  const readable = interfaces.filter(({ isReadable }) => isReadable);
  if (readable.some(({ reported }) => reported.state === "MASTER")) return "master";
  if (readable.length < interfaces.length) return "unknown";
  return readable.some(({ reported }) => reported.state === "BACKUP") ? "backup" : "other";
}

function groupOf(
  { vhid, vip }: VrrpInterface,
  standing: readonly Standing[],
  agreement: Agreement,
): GroupSnapshot {
  const members = standing.map(({ appliance, role, priority }) => ({ appliance, role, priority }));
  const missing = standing.filter(({ role }) => role === "unknown");
  const missedForMs = Math.max(0, ...missing.map(({ countsForMs }) => countsForMs));
  return { vhid, vip, members, ...agreement, missedForMs, isPreferredMaster: preferredMaster(standing) };
}

/**
 * Whether the one MASTER is preferred: by its configured type where exactly one member is FAILOVER MASTER, else by the
 * highest priority, which may be shared. Members count with what they reported last, even while unknown.
 */
function preferredMaster(members: readonly Standing[]): boolean | undefined {
  const [master, ...others] = members.filter(({ role }) => role === "master");
  if (master === undefined || others.length > 0) return undefined;
  if (members.filter(({ isFailoverMaster }) => isFailoverMaster).length === 1) return master.isFailoverMaster;
  if (master.priority === undefined) return undefined;
  return master.priority === Math.max(...members.map(({ priority }) => priority ?? -1));
}
