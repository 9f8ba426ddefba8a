import { isLinkLocal } from "../../support/address.ts";
import { groupBy } from "../../support/group-by.ts";
import { linksOf, type Link, type Port } from "./links.ts";
import { groupKey, type GroupSnapshot } from "./snapshot.ts";
import type { GroupReport, Reports } from "./vrrp.ts";

/** A VRRP group under the names that its members give it. */
export interface GroupNames extends Pick<GroupSnapshot, "key" | "vhid" | "vip" | "interface" | "isOneLink"> {
  /**
   * For each member, by its place in the cluster, the keys of its reports about the group, also of earlier ones. There are several, since
   * members may list the addresses of the group in another order.
   */
  readonly keys: readonly (readonly string[])[];
  /**
   * The members that last reported MASTER for an address of the group under another VHID, by their places in the cluster, and the key of
   * each report.
   */
  readonly rivals: ReadonlyMap<number, string>;
}

interface Mention extends Port {
  /** The place among all mentions. */
  readonly nth: number;
  readonly key: string;
  readonly report: GroupReport;
}

/**
 * Returns the groups that the members of a cluster last reported, in the order of first mention. A report is `undefined` for a member that
 * was never seen. Reports with one VHID are about one group if the VIP of one is among the addresses of the other.
 *
 * Links tell groups apart where an address is not the same host everywhere: a link-local one, and a VIP that an appliance has on two
 * interfaces under one VHID. Elsewhere members may give other names to their interfaces.
 */
export function groupNames(given: {
  readonly reports: readonly (Reports | undefined)[];
}): readonly GroupNames[] {
  const mentions = mentionsOf(given.reports);
  const { groupOf, unknown, scoped } = jointMentions(mentions);
  const rivalsOf = rivalsAmong(mentions, groupOf, scoped);
  const groups = [...groupBy(mentions, ({ nth }) => groupOf(nth)).values()];
  const named = groupBy(groups, ([first]) => first && groupKey(first.report));
  const places = scoped.size === 0 ? [] : placesOf(given.reports, mentions);
  return groups.flatMap((own): readonly GroupNames[] => {
    const [first] = own;
    if (first === undefined) return [];
    const { nth, name, report } = first;
    const isAlone = named.get(groupKey(report))?.length === 1;
    const identity = { vhid: report.vhid, vip: report.vip, interface: isAlone ? "" : name };
    const keys = [...new Set(own.map(({ key }) => key))];
    const group = groupOf(nth);
    const isElsewhere = (member: number, key: string): boolean => {
      const place = places[member]?.get(key);
      return place !== undefined && groupOf(place) !== group;
    };
    return [
      {
        key: groupKey(identity),
        ...identity,
        isOneLink: own.every((mention) => !unknown.has(mention.nth)),
        keys: given.reports.map((_, member) =>
          scoped.size === 0 ? keys : keys.filter((key) => !isElsewhere(member, key)),
        ),
        rivals: rivalsOf(own),
      },
    ];
  });
}

function mentionsOf(all: readonly (Reports | undefined)[]): readonly Mention[] {
  const mentions: Mention[] = [];
  for (const [member, reports = new Map()] of all.entries())
    for (const [key, own] of reports)
      for (const report of own) {
        const { name, device } = report;
        mentions.push({ nth: mentions.length, member, key, name, device, report });
      }
  return mentions;
}

/** Returns the place of the mention under each key, for each member. */
function placesOf(
  reports: readonly unknown[],
  mentions: readonly Mention[],
): readonly ReadonlyMap<string, number>[] {
  const places = reports.map(() => new Map<string, number>());
  for (const { member, key, nth } of mentions) places[member]?.set(key, nth);
  return places;
}

interface Joint {
  /** Returns the place of the first mention of a mention's group. */
  readonly groupOf: (nth: number) => number;
  /** The mentions of which nobody can tell which are on one link. */
  readonly unknown: ReadonlySet<number>;
  /** The addresses that are another host on each link. */
  readonly scoped: ReadonlySet<string>;
}

/** Joins mentions to groups. An appliance may have a thousand groups, so each address of each mention is looked up once. */
function jointMentions(mentions: readonly Mention[]): Joint {
  const first = mentions.map(({ nth }) => nth);
  function groupOf(nth: number): number {
    let place = nth;
    for (let next = first[place]; next !== undefined && next !== place; next = first[place]) {
      first[place] = first[next] ?? next;
      place = next;
    }
    return place;
  }
  function join(some: readonly Mention[]): void {
    const places = some.map(({ nth }) => groupOf(nth));
    const least = places.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
    for (const place of places) first[place] = least;
  }

  const byVip = groupBy(mentions, ({ report }) => groupKey(report));
  const byAlias = new Map<string, Mention[]>();
  for (const mention of mentions) {
    const { vhid, vip, addresses } = mention.report;
    for (const address of addresses) {
      const key = address === vip ? "" : groupKey({ vhid, vip: address });
      if (!byVip.has(key)) continue;
      const others = byAlias.get(key);
      if (others === undefined) byAlias.set(key, [mention]);
      else others.push(mention);
    }
  }
  const scopedVips = [...byVip].filter(([, own]) => isScoped(own));
  const scopedKeys = new Set(scopedVips.map(([key]) => key));
  for (const [key, own] of byVip) if (!scopedKeys.has(key)) join([...own, ...(byAlias.get(key) ?? [])]);
  const unknown = new Set<number>();
  for (const [key, own] of scopedVips) {
    // An interface that has other addresses in common with one of these is known to be on its link.
    const joined = new Set(own.map(({ nth }) => groupOf(nth)));
    const others = (byAlias.get(key) ?? []).filter(({ nth }) => !joined.has(groupOf(nth)));
    for (const { ports, isKnown } of linksOf([...new Set([...own, ...others])])) {
      if (!ports.some(({ report }) => groupKey(report) === key)) continue;
      join(ports);
      if (!isKnown) for (const { nth } of ports) unknown.add(nth);
    }
  }
  return {
    groupOf,
    unknown,
    scoped: new Set(scopedVips.flatMap(([, own]) => own.map(({ report }) => report.vip))),
  };
}

/** Whether the VIP that these mentions have, under one VHID, is another host on each link. */
function isScoped(mentions: readonly Mention[]): boolean {
  const members = new Set(mentions.map(({ member }) => member));
  return members.size < mentions.length || mentions.some(({ report }) => isLinkLocal(report.vip));
}

/** Returns the rivals of a group. */
function rivalsAmong(
  mentions: readonly Mention[],
  groupOf: Joint["groupOf"],
  scoped: Joint["scoped"],
): (group: readonly Mention[]) => ReadonlyMap<number, string> {
  const linkOf = linksByAddress(mentions, scoped);
  /** For each address, and each link of an address that is scoped, the members that last reported MASTER there. */
  const masters = new Map<unknown, Map<number, Mention>>();
  const placeOf = (mention: Mention, address: string): unknown => {
    const links = linkOf.get(address);
    return links === undefined ? address : links.get(mention);
  };
  for (const mention of mentions)
    for (const address of mention.report.isMaster ? mention.report.addresses : []) {
      const place = placeOf(mention, address);
      if (place === undefined) continue;
      masters.set(place, (masters.get(place) ?? new Map<number, Mention>()).set(mention.member, mention));
    }
  return (group) => {
    const rivals = new Map<number, string>();
    for (const mention of group)
      for (const address of mention.report.addresses)
        for (const [member, other] of masters.get(placeOf(mention, address)) ?? [])
          if (groupOf(other.nth) !== groupOf(mention.nth)) rivals.set(member, other.key);
    return rivals;
  };
}

/** Returns the known link of each mention of a scoped address, under any VHID. */
function linksByAddress(
  mentions: readonly Mention[],
  scoped: Joint["scoped"],
): ReadonlyMap<string, ReadonlyMap<Mention, Link>> {
  const byAddress = new Map<string, Set<Mention>>();
  for (const mention of mentions)
    for (const address of mention.report.addresses)
      if (isLinkLocal(address) || scoped.has(address))
        byAddress.set(address, (byAddress.get(address) ?? new Set<Mention>()).add(mention));
  const links = Array.from(byAddress, ([address, all]) => {
    const known = linksOf([...all]).filter(({ isKnown }) => isKnown);
    const places = known.flatMap((link) => link.ports.map((port) => [port, link] as const));
    return [address, new Map(places)] as const;
  });
  return new Map(links);
}
