import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type FoundWebsiteSnapshot,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { listensOn } from "../fleet/discovery.ts";
import { groupBy } from "../support/group-by.ts";
import { once } from "../support/kept.ts";
import type { ClusterVerdict, ClusterWebsite, GroupVerdict } from "./verdict.ts";

/** A cluster whose groups are judged. */
export type Subject = Pick<ClusterVerdict, "facts" | "groups">;

type Named = Pick<WebsiteSnapshot, "identity" | "websiteId" | "website" | "address">;

/** Where an appliance has a website of that key. */
interface Mention {
  readonly key: string;
  readonly named: Pick<Named, "websiteId" | "website">;
  readonly test?: WebsiteSnapshot;
  readonly found?: FoundWebsiteSnapshot;
}

/** The websites that the appliances test or describe. */
export function websitesIn({ facts, groups }: Subject): readonly ClusterWebsite[] {
  const { appliances } = facts;
  const listening = listeningIn(facts);
  const keyOf = keysIn(appliances);
  const mentions = appliances.flatMap(({ websites, found: described, discovery }): readonly Mention[] => [
    ...websites.map((test) => ({ key: keyOf(test), named: test, test })),
    ...described.map((found) => ({ key: keyOf(found), named: found, found })),
    // Also those whose details are not known now.
    ...Array.from(discovery?.known ?? [], ([key, named]) => ({ key, named })),
  ]);
  const used = new Set<string>();
  const byKey = groupBy(mentions, ({ key }) => key);
  return Array.from(byKey, ([key, all]) => {
    const { websiteId = 0, website: given = key } = all[0]?.named ?? {};
    const website = unusedName(used, websiteId, given, key);
    used.add(`${websiteId} ${website}`);
    const tests = all.flatMap(({ test }) => test ?? []);
    const found = all.flatMap((mention) => mention.found ?? []);
    const binds = [...tests.map(({ bind }) => bind), ...found.map(({ details }) => listensOn(details))];
    const vips = new Set(binds.flatMap((bind) => [...listening(bind).values()]));
    const own = [...groups.values()].filter((group) => vips.has(group.facts.vip));
    const masters = new Set(own.flatMap(mastersOf));
    const isMaster: ClusterWebsite["isMaster"] = ({ identity }) => masters.has(identity.appliance);
    return { key, websiteId, website, tests, found, isMaster };
  }).filter(({ tests, found }) => tests.length + found.length > 0);
}

/** By host and port, else as only its appliance knows it; without details by id, like another appliance's website with that id. */
function keysIn(appliances: ClusterSnapshot["appliances"]): (website: Named) => string {
  const tests = appliances.flatMap(({ websites }) => websites);
  const byId = new Map(
    tests.toReversed().flatMap(({ websiteId, address }) => (address ? [[websiteId, address] as const] : [])),
  );
  return ({ websiteId, address = byId.get(websiteId) ?? `#${websiteId}`, identity: { appliance } }) =>
    address === "" ? `#${websiteId} at ${appliance}` : address;
}

/** Whether host and port of the website are not known. */
export function isWithoutAddress(key: string): boolean {
  return key.startsWith("#");
}

/** Whether an appliance is known to lack a website: all that it has are known, and where this one is. */
export function lacks({ discovery }: ApplianceSnapshot, key: string): boolean {
  return discovery?.isComplete === true && !isWithoutAddress(key) && !discovery.known.has(key);
}

/** Two websites may have the same id and name at different appliances. */
function unusedName(used: ReadonlySet<string>, id: number, name: string, key: string): string {
  return used.has(`${id} ${name}`) ? unusedName(used, id, `${name} (${key})`, key) : name;
}

function mastersOf({ facts, state, latestMaster }: GroupVerdict): readonly string[] {
  const masters = membersIn(facts, "master");
  return state === "changing" && latestMaster !== undefined ? [...masters, latestMaster] : masters;
}

/** The addresses on which a website listens, with their VIPs: those VIPs, and aliases of VIPs, that it names; else all VIPs. */
export const listeningIn = once(({ groups }: ClusterSnapshot) => {
  const vips = new Map(groups.map(({ vip }) => [vip, vip]));
  const aliases = groups.flatMap(({ vip, aliases: of }) => of.map((address) => [address, vip] as const));
  const all = [...new Map([...aliases, ...vips])];
  return (bind: readonly string[]): ReadonlyMap<string, string> => {
    const named = new Set(bind);
    const own = new Map(all.filter(([address]) => named.has(address)));
    return own.size > 0 ? own : vips;
  };
});
