import { membersIn, type ClusterSnapshot, type ClusterWebsite } from "../fleet/snapshot.ts";
import { groupBy } from "../../support/group-by.ts";
import { once } from "../../support/kept.ts";
import type { ClusterVerdict, GroupVerdict } from "./verdict.ts";

/** Returns the addresses on which a website listens: the VIPs, and aliases of VIPs, that it names; else all VIPs. */
export const listeningIn = once((groups: ClusterSnapshot["groups"]) => {
  const vips = [...new Set(groups.map(({ vip }) => vip))];
  const known = new Set([...vips, ...groups.flatMap(({ aliases }) => aliases)]);
  return (bind: readonly string[]): readonly string[] => {
    const own = bind.filter((address) => known.has(address));
    return own.length > 0 ? own : vips;
  };
});

/** The distinct lists of addresses on which a website listens, each with a text that is equal for equal lists. */
const bindsOf = once(({ at }: ClusterWebsite) => {
  const binds = new Map(at.map(({ known: { bind } }) => [bind.join(" "), bind]));
  return { addresses: [...binds.keys()].join("\n"), binds: [...binds.values()] };
});

/**
 * Returns the appliances that decide about a website: those that are known to be MASTER of a VIP on which the website listens at any
 * appliance, or of any VIP if these addresses are not known. While a group is changing, its latest master counts too. Each distinct set of
 * addresses is looked up once.
 */
export const decidingIn = foundIn(({ facts, state, latestMaster }) => {
  const masters = membersIn(facts, "master");
  return state === "changing" && latestMaster !== undefined ? [...masters, latestMaster] : masters;
});

/** Returns the groups by which visitors reach a website: those of the VIPs on which it listens. */
export const groupsVisitedIn = foundIn(({ facts }) => [facts]);

/** Returns what groups have of the VIPs on which a website listens, each thing once. */
function foundIn<Found>(of: (group: GroupVerdict) => readonly Found[]) {
  return once((groups: ClusterVerdict["groups"]) => {
    const verdicts = [...groups.values()];
    const listening = listeningIn(verdicts.map(({ facts }) => facts));
    const foundAt = foundByAddress(verdicts, of);
    const known = new Map<string, readonly Found[]>();
    return (website: ClusterWebsite): readonly Found[] => {
      const { addresses, binds } = bindsOf(website);
      const earlier = known.get(addresses);
      if (earlier !== undefined) return earlier;
      const all = new Set<Found>();
      // The loops are plain, since a website may listen on 64 addresses, and all of them may flap.
      for (const bind of binds)
        for (const address of listening(bind)) for (const each of foundAt.get(address) ?? []) all.add(each);
      const found = [...all];
      known.set(addresses, found);
      return found;
    };
  });
}

/** Returns what groups have of each VIP, and of each alias that is no VIP itself. */
function foundByAddress<Found>(
  groups: readonly GroupVerdict[],
  of: (group: GroupVerdict) => readonly Found[],
): ReadonlyMap<string, readonly Found[]> {
  const aliases = groups.flatMap((group) =>
    group.facts.aliases.map((address) => [address, of(group)] as const),
  );
  const byVip = groupBy(groups, ({ facts }) => facts.vip);
  return new Map([...aliases, ...Array.from(byVip, ([vip, all]) => [vip, all.flatMap(of)] as const)]);
}
