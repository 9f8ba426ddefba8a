import { groupBy } from "../../support/group-by.ts";
import { kept } from "../../support/kept.ts";
import type {
  ApplianceSnapshot,
  ClusterWebsite,
  KnownWebsite,
  MemberWebsite,
  OfWebsite,
} from "./snapshot.ts";

/** The websites of each appliance of a cluster, in the order of the configuration. */
interface Lists {
  readonly lists: readonly ApplianceSnapshot["known"][];
}

/**
 * Returns the websites of a cluster, in the order of first mention; the websites that an appliance tests come before its others. A website
 * that is as it was `before` is the same object.
 */
export function clusterWebsites(
  { lists }: Lists,
  before: readonly ClusterWebsite[] = [],
): readonly ClusterWebsite[] {
  const earlier = new Map(before.map((website) => [website.key, website]));
  const keyOf = keysIn(lists);
  const mentions = lists.flatMap((websites, member): readonly MemberWebsite[] => {
    const tested = websites.filter(({ isTested }) => isTested);
    const others = websites.filter(({ isTested }) => !isTested);
    return [
      ...tested.map((known, test) => ({ member, test, known })),
      ...others.map((known) => ({ member, test: -1, known })),
    ];
  });
  const used = new Set<string>();
  return Array.from(
    groupBy(mentions, ({ known }) => keyOf(known)),
    ([key, at]) => {
      const { websiteId = 0, website: given = key } = at[0]?.known ?? {};
      const website = unusedName(used, websiteId, given, key);
      used.add(`${websiteId} ${website}`);
      return kept(earlier.get(key), { key, websiteId, website, at });
    },
  );
}

/**
 * Returns the key by which a website is known, as far as its appliance alone determines it: host and port, or else its id, unique at the
 * appliance.
 */
export function websiteKey({ websiteId, identity }: OfWebsite, address: string | undefined): string {
  if (address === undefined) return `#${websiteId}`;
  return address === "" ? `#${websiteId} at ${identity.appliance}` : address;
}

/**
 * Returns a function that returns the key of each website in its cluster. A website without details has the key of another appliance's
 * website with the same id.
 */
function keysIn(lists: Lists["lists"]): (website: KnownWebsite) => string {
  const addresses = lists.flat().flatMap(({ websiteId, address, isTested }) => {
    return isTested && address ? [[websiteId, address] as const] : [];
  });
  // The first address of an id counts.
  const byId = new Map(addresses.toReversed());
  return (website) => websiteKey(website, website.address ?? byId.get(website.websiteId));
}

/** Whether host and port of the website are not known. */
export function isWithoutAddress(key: string): boolean {
  return key.startsWith("#");
}

/** Returns an unused name, since two websites may have the same id and name at different appliances. */
function unusedName(used: ReadonlySet<string>, id: number, name: string, key: string): string {
  return used.has(`${id} ${name}`) ? unusedName(used, id, `${name} (${key})`, key) : name;
}
