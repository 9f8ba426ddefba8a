import { groupKey, type GroupSnapshot } from "./snapshot.ts";
import type { GroupReport, Reports } from "./vrrp.ts";

/** A VRRP group under the names that its members give it. */
export interface GroupNames extends Pick<GroupSnapshot, "key" | "vhid" | "vip"> {
  /** The `groupKey` for each VIP, since members may list the addresses of the group in another order. */
  readonly keys: readonly string[];
  /**
   * The members that last reported MASTER for an address of the group under another VHID, by their places in the cluster, and the
   * `groupKey` of each report.
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
 * Returns the groups that the members of a cluster last reported, in the order of first mention. A report is `undefined` for a member that
 * was never seen. Reports with one VHID are about one group if the VIP of one is among the addresses of the other.
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
      // An appliance may have a thousand groups, so the smaller set joins the larger one.
      const [small, large] = one.size < other.size ? [one, other] : [other, one];
      for (const each of small) sets.set(each, large.add(each));
    }
  }
  return sets;
}

/** Maps each address to the members that last reported MASTER for it, each with the key of such a report. */
function mastersByAddress(mentions: readonly Mention[]): ReadonlyMap<string, ReadonlyMap<number, string>> {
  const masters = new Map<string, Map<number, string>>();
  for (const { member, key, report } of mentions) {
    for (const address of report.isMaster ? report.addresses : [])
      masters.set(address, (masters.get(address) ?? new Map<number, string>()).set(member, key));
  }
  return masters;
}
