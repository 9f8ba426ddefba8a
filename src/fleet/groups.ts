import { isSame, keptEqual } from "../support/kept.ts";
import type { GroupSnapshot, MemberSnapshot } from "./snapshot.ts";
import type { GroupReport, VrrpState } from "./vrrp.ts";

/**
 * The VRRP groups of one cluster: every one that a member was last seen in, in the order of first mention. A group that is as
 * it was `before` is the same object, and so is the list if all are.
 */
export function groupsOf(
  members: readonly VrrpState[],
  before: readonly GroupSnapshot[] = [],
): readonly GroupSnapshot[] {
  const known = new Map(before.map((group) => [group.key, group]));
  const keys = new Set(members.flatMap(({ seen }) => [...(seen?.groups.keys() ?? [])]));
  const groups = Array.from(keys, (key) => keptEqual(known.get(key), groupOf(key, members)));
  return isSame(groups, before) ? before : groups;
}

/** One member in one group. Instants are monotonic. */
interface MemberView {
  readonly member: MemberSnapshot;
  /** `undefined` for an appliance that was never seen. */
  readonly report: GroupReport | undefined;
  readonly sentAtMs: number;
  readonly changedAtMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

function viewsOf(members: readonly VrrpState[], key: string): readonly MemberView[] {
  return members.flatMap(({ identity: { appliance }, seen, silentSinceMs }) => {
    const report = seen?.groups.get(key);
    if (seen !== undefined && report === undefined) return [];
    const role = silentSinceMs === undefined && report !== undefined ? report.role : "unknown";
    const member = { appliance, role, priority: report?.priority, silentSinceMs };
    const changedAtMs = seen?.changedAtMs.get(key) ?? NEVER;
    return [{ member, report, sentAtMs: seen?.sentAtMs ?? NEVER, changedAtMs }];
  });
}

function groupOf(key: string, members: readonly VrrpState[]): GroupSnapshot {
  const views = viewsOf(members, key);
  const { vhid = 0, vip = "" } = views.find(({ report }) => report !== undefined)?.report ?? {};
  // Members that have left the group count too.
  const latestMs = members.reduce((ms, { seen }) => Math.max(ms, seen?.changedAtMs.get(key) ?? NEVER), NEVER);
  const late = views.filter(({ member, sentAtMs }) => member.role !== "unknown" && sentAtMs <= latestMs);
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
    Math.min(one.sentAtMs, other.sentAtMs) > Math.max(one.changedAtMs, other.changedAtMs);
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
