import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type ClusterWebsite,
  type Identity,
} from "../fleet/snapshot.ts";
import { isWithoutAddress } from "../fleet/cluster-websites.ts";
import { groupBy } from "../support/group-by.ts";
import { createMemo, once } from "../support/kept.ts";
import type { ClusterVerdict, GroupVerdict } from "./verdict.ts";

/** A cluster whose groups are judged. */
export type Subject = Pick<ClusterVerdict, "facts" | "groups">;

/** Whether an appliance is known to lack a website: all that it has are known, and where this one is. */
export function lacks({ discovery }: ApplianceSnapshot, key: string): boolean {
  return discovery?.isComplete === true && !isWithoutAddress(key) && !discovery.known.has(key);
}

/** The addresses on which a website listens: those VIPs, and aliases of VIPs, that it names; else all VIPs. */
export const listeningIn = once((groups: ClusterSnapshot["groups"]) => {
  const vips = [...new Set(groups.map(({ vip }) => vip))];
  const known = new Set([...vips, ...groups.flatMap(({ aliases }) => aliases)]);
  return (bind: readonly string[]): readonly string[] => {
    const own = bind.filter((address) => known.has(address));
    return own.length > 0 ? own : vips;
  };
});

/**
 * The appliances that are known to be MASTER of a VIP on which a website listens at any appliance; of any VIP where that is not
 * known. Of a group that is changing, the latest master counts too, until the change is proven.
 */
export interface Masters {
  readonly names: ReadonlySet<string>;
  /** Equal for equal names. */
  readonly text: string;
}

export function isMaster({ names }: Masters, { identity }: { readonly identity: Identity }): boolean {
  return names.has(identity.appliance);
}

/** The distinct lists of addresses on which a website listens, and a text that is equal for equal lists. */
const bindsOf = once(({ at }: ClusterWebsite) => {
  const binds = new Map(at.map(({ known: { bind } }) => [bind.join(" "), bind]));
  return { addresses: [...binds.keys()].join("\n"), binds: [...binds.values()] };
});

const onceMasters = createMemo<(website: ClusterWebsite) => Masters>();

/** The masters of each website, found once for each distinct set of addresses. */
export function mastersIn({ facts, groups }: Subject): (website: ClusterWebsite) => Masters {
  return onceMasters(groups, [facts.groups], () => {
    const listening = listeningIn(facts.groups);
    const mastersAt = mastersByAddress([...groups.values()]);
    const known = new Map<string, Masters>();
    return (website) => {
      const { addresses, binds } = bindsOf(website);
      const masters = known.get(addresses);
      if (masters !== undefined) return masters;
      const names = new Set<string>();
      for (const bind of binds)
        for (const address of listening(bind))
          for (const name of mastersAt.get(address) ?? []) names.add(name);
      const found = { names, text: [...names].toSorted().join("\n") };
      known.set(addresses, found);
      return found;
    };
  });
}

/** Of an address that is a VIP and an alias of another one, the masters of the VIP. */
function mastersByAddress(groups: readonly GroupVerdict[]): ReadonlyMap<string, readonly string[]> {
  const aliases = groups.flatMap((group) =>
    group.facts.aliases.map((address) => [address, mastersOf(group)] as const),
  );
  const byVip = groupBy(groups, ({ facts }) => facts.vip);
  return new Map([...aliases, ...Array.from(byVip, ([vip, all]) => [vip, all.flatMap(mastersOf)] as const)]);
}

function mastersOf({ facts, state, latestMaster }: GroupVerdict): readonly string[] {
  const masters = membersIn(facts, "master");
  return state === "changing" && latestMaster !== undefined ? [...masters, latestMaster] : masters;
}
