import { kept } from "../support/kept.ts";
import { groupKey, type GroupSnapshot, type MemberRole, type MemberSnapshot } from "./snapshot.ts";
import type { GroupReport, Reports, VrrpRecord } from "./vrrp.ts";

/** A VRRP group under the names that its members give it. */
export interface GroupNames extends Pick<GroupSnapshot, "key" | "vhid" | "vip"> {
  /** A `groupKey` for each VIP: members may list the addresses of the group in another order. */
  readonly keys: readonly string[];
  /**
   * By its place in the cluster, each member that last said MASTER of an address of the group under another VHID, and the
   * `groupKey` of that report.
   */
  readonly rivals: ReadonlyMap<number, string>;
}

interface Mention {
  /** The place of the member in the cluster. */
  readonly member: number;
  readonly key: string;
  readonly report: GroupReport;
}

/**
 * The groups that the members of a cluster last reported, in the order of first mention; `undefined` for a member that was
 * never seen. Reports with one VHID are about one group where the VIP of one is among the addresses of the other.
 */
export function groupNames(given: {
  readonly reports: readonly (Reports | undefined)[];
}): readonly GroupNames[] {
  const mentions = given.reports.flatMap((reports = new Map(), member) =>
    Array.from(reports).flatMap(([key, all]) => all.map((report): Mention => ({ member, key, report }))),
  );
  const sets = jointKeys(mentions);
  const masters = mastersByAddress(mentions);
  const groups = new Map<unknown, GroupNames & { readonly rivals: Map<number, string> }>();
  for (const { key, report } of mentions) {
    const own = sets.get(key) ?? new Set([key]);
    const { vhid, vip, addresses } = report;
    const group = groups.get(own) ?? { key, vhid, vip, keys: [...own], rivals: new Map<number, string>() };
    groups.set(own, group);
    for (const address of addresses)
      for (const [member, other] of masters.get(address) ?? [])
        if (!own.has(other)) group.rivals.set(member, other);
  }
  return [...groups.values()];
}

/** Maps each key to all keys of its group. */
function jointKeys(mentions: readonly Mention[]): ReadonlyMap<string, ReadonlySet<string>> {
  const sets = new Map(mentions.map(({ key }) => [key, new Set([key])]));
  for (const { key, report } of mentions) {
    for (const vip of report.addresses) {
      const [one, other] = [
        sets.get(key),
        vip === report.vip ? undefined : sets.get(groupKey({ vhid: report.vhid, vip })),
      ];
      if (one === undefined || other === undefined || one === other) continue;
      // An appliance may have a thousand groups: the smaller set joins the larger one.
      const [small, large] = one.size < other.size ? [one, other] : [other, one];
      for (const each of small) sets.set(each, large.add(each));
    }
  }
  return sets;
}

/** Maps each address to the members that last said MASTER of it, each with a key under which it did. */
function mastersByAddress(mentions: readonly Mention[]): ReadonlyMap<string, ReadonlyMap<number, string>> {
  const masters = new Map<string, Map<number, string>>();
  for (const { member, key, report } of mentions) {
    for (const address of report.isMaster ? report.addresses : [])
      masters.set(address, (masters.get(address) ?? new Map<number, string>()).set(member, key));
  }
  return masters;
}

/**
 * The VRRP groups of one cluster. A group that is as it was `before` is the same object, and so is the list if all are.
 */
export function groupsOf(
  { names, members }: { readonly names: readonly GroupNames[]; readonly members: readonly VrrpRecord[] },
  before: readonly GroupSnapshot[] = [],
): readonly GroupSnapshot[] {
  const known = new Map(before.map((group) => [group.key, group]));
  return kept(
    before,
    names.map((group) => kept(known.get(group.key), groupOf(group, members))),
  );
}

/** One member in one group, or as a rival of it. Instants are monotonic. */
interface MemberView {
  readonly member: MemberSnapshot;
  /** `undefined` for an appliance that was never seen. */
  readonly report: GroupReport | undefined;
  /** The beginning of its latest poll; in a group that flaps, of the one before. Since then it has said what it says now. */
  readonly sinceMs: number;
  readonly changedAtMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
/** A member that became MASTER or stopped being MASTER three times within so long may do both between two polls. */
const FLAPPING_MS = 60_000;

function viewsOf(
  { identity: { appliance }, seen, silentSinceMs }: VrrpRecord,
  keys: readonly string[],
  isFlapping: boolean,
): readonly MemberView[] {
  const report = together(keys.flatMap((key) => seen?.reports.get(key) ?? []));
  if (seen !== undefined && report === undefined) return [];
  const role = silentSinceMs === undefined && report !== undefined ? report.role : "unknown";
  const { interfaces = [], priority } = report ?? {};
  const member = { appliance, interfaces, role, priority, silentSinceMs };
  const changes = keys.map((key) => seen?.masterChanges.get(key)?.changedAtMs ?? NEVER);
  const sinceMs = (isFlapping ? seen?.sentBeforeMs : seen?.sentAtMs) ?? NEVER;
  return [{ member, report, sinceMs, changedAtMs: Math.max(...changes) }];
}

/** Where an appliance has several interfaces in one group, the first of these roles counts. */
const STRONGEST_FIRST: readonly MemberRole[] = ["master", "unknown", "backup", "other"];

/** One report for all interfaces of an appliance in one group. */
function together(all: readonly GroupReport[]): GroupReport | undefined {
  const [first, ...others] = all;
  if (first === undefined || others.length === 0) return first;
  const roles = new Set(all.map(({ role }) => role));
  const priorities = all.flatMap(({ priority }) => priority ?? []);
  return {
    ...first,
    role: STRONGEST_FIRST.find((role) => roles.has(role)) ?? "unknown",
    isMaster: all.some(({ isMaster }) => isMaster),
    priority: priorities.length === 0 ? undefined : Math.max(...priorities),
    isFailoverMaster: all.some(({ isFailoverMaster }) => isFailoverMaster),
    interfaces: all.flatMap(({ interfaces }) => interfaces),
    addresses: all.flatMap(({ addresses }) => addresses),
  };
}

function groupOf(
  { key, vhid, vip, keys, rivals }: GroupNames,
  members: readonly VrrpRecord[],
): GroupSnapshot {
  const others = [...rivals].flatMap(([nth, other]) =>
    members.slice(nth, nth + 1).map((record) => ({ record, other })),
  );
  // Members that have left the group count too.
  const changes = [
    ...members.flatMap(({ seen }) => keys.flatMap((each) => seen?.masterChanges.get(each) ?? [])),
    ...others.flatMap(({ record: { seen }, other }) => seen?.masterChanges.get(other) ?? []),
  ];
  const latestMs = Math.max(...changes.map(({ changedAtMs }) => changedAtMs));
  const thirdLastMs = Math.max(...changes.map(({ switchedAtMs }) => switchedAtMs.at(-3) ?? NEVER));
  const isFlapping = latestMs - thirdLastMs < FLAPPING_MS;
  const views = members.flatMap((record) => viewsOf(record, keys, isFlapping));
  const masters = views
    .filter(({ member }) => member.role === "master")
    .map(({ member }) => member.appliance);
  const rivalViews = others
    .flatMap(({ record, other }) => viewsOf(record, [other], isFlapping))
    .filter(({ member }) => masters.length > 0 && !masters.includes(member.appliance));
  const late = views.filter(({ member, sinceMs }) => member.role !== "unknown" && sinceMs <= latestMs);
  const addresses = views.flatMap(({ report }) => report?.addresses ?? []);
  return {
    key,
    vhid,
    vip,
    aliases: [...new Set(addresses)].filter((address) => address !== vip),
    members: views.map(({ member }) => member),
    rivals: rivalViews.map(({ member }) => member),
    mastersAtOnce: mastersAtOnce([...views, ...rivalViews]),
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
