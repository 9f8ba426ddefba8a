import type { VrrpInterface } from "../api/vrrp.ts";
import { canonicalAddress } from "../support/address.ts";
import { groupBy } from "../support/group-by.ts";
import { isSame, keptEqual } from "../support/kept.ts";
import type { OperationRecord } from "./record.ts";
import {
  groupKey,
  type GroupSnapshot,
  type Identity,
  type InterfaceSnapshot,
  type MemberRole,
  type MemberSnapshot,
} from "./snapshot.ts";

/** What an appliance last reported of one group, over all of its interfaces in it. */
export interface GroupReport extends Pick<GroupSnapshot, "vhid" | "vip"> {
  /** While its list is known. */
  readonly role: MemberRole;
  /** Whether any interface was MASTER when it was last readable. */
  readonly isMaster: boolean;
  /** The highest one. */
  readonly priority: number | undefined;
  readonly isFailoverMaster: boolean;
  /** In canonical text. */
  readonly aliases: readonly string[];
}

/** By `groupKey`, in the order of first mention. */
export type GroupReports = ReadonlyMap<string, GroupReport>;

/** Of several interfaces in one group the first of these decides. */
const STRONGEST_FIRST: readonly MemberRole[] = ["master", "unknown", "backup", "other"];

/** What an appliance reports of its groups; `unreadable`: interfaces as they were when they were last readable. */
export function reportsOf(
  interfaces: readonly InterfaceSnapshot[],
  unreadable: readonly InterfaceSnapshot[],
): GroupReports {
  const isReadable = new Set(interfaces);
  const byKey = groupBy([...interfaces, ...unreadable], ({ reported }) => groupKey(reported));
  return new Map(Array.from(byKey, ([key, all]) => [key, reportOf(all, isReadable)] as const));
}

function reportOf(
  all: readonly InterfaceSnapshot[],
  isReadable: ReadonlySet<InterfaceSnapshot>,
): GroupReport {
  const [{ vhid, vip } = { vhid: 0, vip: "" }] = all.map(({ reported }) => reported);
  const roles = new Set(all.map((each) => (isReadable.has(each) ? roleIn(each.reported) : "unknown")));
  const priorities = all.map(({ reported: { priority } }) => priority);
  return {
    vhid,
    vip,
    role: STRONGEST_FIRST.find((role) => roles.has(role)) ?? "unknown",
    isMaster: all.some(({ reported: { state } }) => state === "MASTER"),
    priority: highest(priorities),
    isFailoverMaster: all.some(({ reported: { type } }) => type === "1"),
    aliases: all.flatMap(({ reported: { aliases = [] } }) => aliases.map(canonicalAddress)),
  };
}

function roleIn({ state }: VrrpInterface): MemberRole {
  return state === "MASTER" ? "master" : state === "BACKUP" ? "backup" : "other";
}

function highest(priorities: readonly (number | undefined)[]): number | undefined {
  const known = priorities.filter((priority) => priority !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** What an appliance reported of its groups, and when it was seen to change. */
export interface SeenGroups {
  readonly reports: GroupReports;
  /** The monotonic instant at which the poll began. */
  readonly sentAtMs: number;
  /**
   * By group, the monotonic instant at which the latest change was learned: the appliance became MASTER or stopped being
   * MASTER, or answered again after it was silent, when it may have been either. A MASTER that is seen for the first time
   * is a change.
   */
  readonly changedAtMs: ReadonlyMap<string, number>;
}

/** The latest changes after one more valid answer, learned at the monotonic instant `nowMs`; `wasSilent`: before it. */
export function masterChanges(
  before: Pick<SeenGroups, "reports" | "changedAtMs"> | undefined,
  reports: GroupReports,
  wasSilent: boolean,
  nowMs: number,
): ReadonlyMap<string, number> {
  const changes = new Map<string, number>();
  for (const key of new Set([...(before?.reports.keys() ?? []), ...reports.keys()])) {
    const wasMaster = before?.reports.get(key)?.isMaster === true;
    const isMaster = reports.get(key)?.isMaster === true;
    const isChange = wasMaster !== isMaster || (before !== undefined && wasSilent);
    const atMs = isChange ? nowMs : before?.changedAtMs.get(key);
    if (atMs !== undefined) changes.set(key, atMs);
  }
  return changes;
}

/** An appliance as a member of its cluster's groups. */
interface Member {
  readonly identity: Identity;
  readonly vrrp: OperationRecord<{ readonly groups: SeenGroups }>;
}

/**
 * The VRRP groups of one cluster: every one that a member was last seen in, in the order of first mention. A group that is as
 * it was `before` is the same object, and so is the list if all are.
 */
export function groupsOf(
  members: readonly Member[],
  before: readonly GroupSnapshot[] = [],
): readonly GroupSnapshot[] {
  const known = new Map(before.map((group) => [group.key, group]));
  const keys = new Set(members.flatMap(({ vrrp }) => [...(vrrp.seen?.groups.reports.keys() ?? [])]));
  const groups = Array.from(keys, (key) => keptEqual(known.get(key), groupOf(key, members)));
  return isSame(groups, before) ? before : groups;
}

/** One member in one group. */
interface MemberView extends MemberSnapshot {
  /** `undefined` for an appliance that was never seen. */
  readonly report: GroupReport | undefined;
  readonly sentAtMs: number;
  readonly changedAtMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

function viewsOf(members: readonly Member[], key: string): readonly MemberView[] {
  return members.flatMap(({ identity: { appliance }, vrrp: { seen, silentSinceMs } }) => {
    const { reports, sentAtMs = NEVER, changedAtMs } = seen?.groups ?? {};
    const report = reports?.get(key);
    if (seen !== undefined && report === undefined) return [];
    const role = silentSinceMs === undefined && report !== undefined ? report.role : "unknown";
    const times = { sentAtMs, changedAtMs: changedAtMs?.get(key) ?? NEVER };
    return [{ appliance, role, priority: report?.priority, silentSinceMs, report, ...times }];
  });
}

function groupOf(key: string, members: readonly Member[]): GroupSnapshot {
  const views = viewsOf(members, key);
  const first = views.find(({ report }) => report !== undefined)?.report;
  // Members that have left the group count too.
  const changesMs = members.map(({ vrrp }) => vrrp.seen?.groups.changedAtMs.get(key) ?? NEVER);
  const changedAtMs = Math.max(NEVER, ...changesMs);
  const known = views.filter(({ role }) => role !== "unknown");
  return {
    key,
    vhid: first?.vhid ?? 0,
    vip: first?.vip ?? "",
    aliases: [...new Set(views.flatMap(({ report }) => report?.aliases ?? []))],
    members: views.map(({ appliance, role, priority, silentSinceMs }) => {
      return { appliance, role, priority, silentSinceMs };
    }),
    mastersAtOnce: mastersAtOnce(views),
    notPolledSince: known.filter(({ sentAtMs }) => sentAtMs <= changedAtMs).map(({ appliance }) => appliance),
    isPreferredMaster: preferredMaster(views),
  };
}

/** Two were MASTER at once if each said so when it was polled after the latest change of either was known. */
function mastersAtOnce(views: readonly MemberView[]): readonly string[] {
  const masters = views.filter(({ report }) => report?.isMaster === true);
  const wereAtOnce = (one: MemberView, other: MemberView): boolean =>
    Math.min(one.sentAtMs, other.sentAtMs) > Math.max(one.changedAtMs, other.changedAtMs);
  return masters
    .filter((one) => masters.some((other) => one !== other && wereAtOnce(one, other)))
    .map(({ appliance }) => appliance);
}

/**
 * Whether the one MASTER is preferred: by its configured type where exactly one member is FAILOVER MASTER, else by the
 * highest priority, which may be shared. Members count with what they last reported, even while unknown.
 */
function preferredMaster(views: readonly MemberView[]): boolean | undefined {
  const [master, ...others] = views.filter(({ role }) => role === "master");
  if (master === undefined || others.length > 0) return undefined;
  const failoverMasters = views.filter(({ report }) => report?.isFailoverMaster === true);
  if (failoverMasters.length === 1) return failoverMasters[0] === master;
  if (master.priority === undefined) return undefined;
  return master.priority === highest(views.map(({ priority }) => priority));
}
