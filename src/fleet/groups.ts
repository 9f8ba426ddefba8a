import { kept } from "../support/kept.ts";
import type { GroupSnapshot, MemberSnapshot } from "./snapshot.ts";
import type { GroupReport, VrrpRecord } from "./vrrp.ts";

/**
 * The VRRP groups of one cluster: every one that a member was last seen in, in the order of first mention. A group that is as
 * it was `before` is the same object, and so is the list if all are.
 */
export function groupsOf(
  { members }: { readonly members: readonly VrrpRecord[] },
  before: readonly GroupSnapshot[] = [],
): readonly GroupSnapshot[] {
  const known = new Map(before.map((group) => [group.key, group]));
  const keys = new Set(members.flatMap(({ seen }) => [...(seen?.groups.keys() ?? [])]));
  const groups = Array.from(keys, (key) => kept(known.get(key), groupOf(key, members)));
  return kept(before, groups);
}

/** One member in one group. Instants are monotonic. */
interface MemberView {
  readonly member: MemberSnapshot;
  /** `undefined` for an appliance that was never seen. */
  readonly report: GroupReport | undefined;
  /** From when on it has said what it says now: from the beginning of its latest poll, in a group that flaps of the one before. */
  readonly sinceMs: number;
  readonly changedAtMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
/** A member that became MASTER or stopped being MASTER three times within so long may do both between two polls. */
const FLAPPING_MS = 60_000;

function viewsOf(members: readonly VrrpRecord[], key: string, isFlapping: boolean): readonly MemberView[] {
  return members.flatMap(({ identity: { appliance }, seen, silentSinceMs }) => {
    const report = seen?.groups.get(key);
    if (seen !== undefined && report === undefined) return [];
    const role = silentSinceMs === undefined && report !== undefined ? report.role : "unknown";
    const member = { appliance, role, priority: report?.priority, silentSinceMs };
    const changedAtMs = seen?.masterChanges.get(key)?.changedAtMs ?? NEVER;
    const sinceMs = (isFlapping ? seen?.sentBeforeMs : seen?.sentAtMs) ?? NEVER;
    return [{ member, report, sinceMs, changedAtMs }];
  });
}

function groupOf(key: string, members: readonly VrrpRecord[]): GroupSnapshot {
  // Members that have left the group count too.
  const changes = members.flatMap(({ seen }) => seen?.masterChanges.get(key) ?? []);
  const latestMs = Math.max(...changes.map(({ changedAtMs }) => changedAtMs));
  const thirdLastMs = Math.max(...changes.map(({ switchedAtMs }) => switchedAtMs.at(-3) ?? NEVER));
  const views = viewsOf(members, key, latestMs - thirdLastMs < FLAPPING_MS);
  const { vhid = 0, vip = "" } = views.find(({ report }) => report !== undefined)?.report ?? {};
  const late = views.filter(({ member, sinceMs }) => member.role !== "unknown" && sinceMs <= latestMs);
  return {
    key,
    vhid,
    vip,
    aliases: [...new Set(views.flatMap(({ report }) => report?.aliases ?? []))],
    members: views.map(({ member }) => member),
    mastersAtOnce: mastersAtOnce(views),
    notPolledSince: late.map(({ member }) => member.appliance),
    isPreferredMaster: preferredMaster(views),
  };
}

/** @see GroupSnapshot.mastersAtOnce */
function mastersAtOnce(views: readonly MemberView[]): readonly string[] {
  const masters = views.filter(({ report }) => report?.isMaster === true);
  const wereAtOnce = (one: MemberView, other: MemberView): boolean =>
    Math.min(one.sinceMs, other.sinceMs) > Math.max(one.changedAtMs, other.changedAtMs);
  return masters
    .filter((one) => masters.some((other) => one !== other && wereAtOnce(one, other)))
    .map(({ member }) => member.appliance);
}

/**
 * Whether the one MASTER is preferred: by its configured type where exactly one member is FAILOVER MASTER, else by the
 * highest priority, which may be shared. Members count with what they last reported, even while unknown.
 */
function preferredMaster(views: readonly MemberView[]): boolean | undefined {
  const [master, ...others] = views.filter(({ member }) => member.role === "master");
  if (master === undefined || others.length > 0) return undefined;
  const failoverMasters = views.filter(({ report }) => report?.isFailoverMaster === true);
  if (failoverMasters.length === 1) return failoverMasters[0] === master;
  const masterPriority = master.member.priority;
  if (masterPriority === undefined) return undefined;
  return views.every(({ member: { priority } }) => priority === undefined || priority <= masterPriority);
}
