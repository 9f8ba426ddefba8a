import type { VrrpInterface } from "../api/vrrp-list.ts";
import type { GroupSnapshot, MemberRole, MemberSnapshot } from "./snapshot.ts";
import type { SeenInterface } from "./transitions.ts";

/** An appliance as its cluster's groups see it. */
export interface Member {
  readonly appliance: string;
  /** Whether its VRRP list is known now. */
  readonly isKnown: boolean;
  /** What its last good answer held; `undefined` if there was none yet. */
  readonly seen: readonly SeenInterface[] | undefined;
  /** Monotonic: when that answer was learned, and when one was last seen to change a state. */
  readonly learnedAtMs: number | undefined;
  readonly changedAtMs: number | undefined;
}

/** The VRRP groups of one cluster: every one that a member was last seen in, in the order of first mention. */
export function groupsOf(members: readonly Member[]): readonly GroupSnapshot[] {
  const sorted = members.map(({ seen, ...member }) => ({ ...member, groups: seen && byGroup(seen) }));
  const isSettled = haveSettled(members);
  const keys = new Set(sorted.flatMap(({ groups }) => [...(groups?.keys() ?? [])]));
  return [...keys].flatMap((key) => {
    const [first] = sorted.flatMap(({ groups }) => groups?.get(key)?.slice(0, 1) ?? []);
    return first === undefined ? [] : groupOf(first.reported, standings(sorted, key), isSettled);
  });
}

/** Whether all that are known were heard at or after the last change that any of them was seen to make. */
function haveSettled(members: readonly Member[]): boolean {
  const known = members.filter(({ isKnown }) => isKnown);
  const lastChangeMs = Math.max(...known.map(({ changedAtMs }) => changedAtMs ?? Number.NEGATIVE_INFINITY));
  return known.every(({ learnedAtMs = Number.NEGATIVE_INFINITY }) => learnedAtMs >= lastChangeMs);
}

interface SortedMember extends Pick<Member, "appliance" | "isKnown"> {
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
}

function standings(members: readonly SortedMember[], key: string): readonly Standing[] {
  return members.flatMap(({ appliance, isKnown, groups }) => {
    const here = groups?.get(key);
    if (groups !== undefined && here === undefined) return [];
    const role = isKnown && here !== undefined ? roleOf(here) : "unknown";
    const priorities = (here ?? []).flatMap(({ reported }) => reported.priority ?? []);
    return {
      appliance,
      role,
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
  isSettled: boolean,
): GroupSnapshot {
  const members = standing.map(({ appliance, role, priority }) => ({ appliance, role, priority }));
  return { vhid, vip, members, isSettled, isPreferredMaster: preferredMaster(standing) };
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

function groupKey({ vhid, vip }: VrrpInterface): string {
  return `${vhid} ${vip}`;
}
