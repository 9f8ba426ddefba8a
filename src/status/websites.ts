import {
  membersIn,
  type ApplianceSnapshot,
  type ClusterSnapshot,
  type ClusterWebsite,
  type Identity,
} from "../fleet/snapshot.ts";
import { isWithoutAddress } from "../fleet/cluster-websites.ts";
import { createMemo, once } from "../support/kept.ts";
import type { ClusterVerdict, GroupVerdict } from "./verdict.ts";

/** A cluster whose groups are judged. */
export type Subject = Pick<ClusterVerdict, "facts" | "groups">;

/** Whether an appliance is known to lack a website: all that it has are known, and where this one is. */
export function lacks({ discovery }: ApplianceSnapshot, key: string): boolean {
  return discovery?.isComplete === true && !isWithoutAddress(key) && !discovery.known.has(key);
}

/** The addresses on which a website listens, with their VIPs: those VIPs, and aliases of VIPs, that it names; else all VIPs. */
export const listeningIn = once((groups: ClusterSnapshot["groups"]) => {
  const vips = new Map(groups.map(({ vip }) => [vip, vip]));
  const aliases = groups.flatMap(({ vip, aliases: of }) => of.map((address) => [address, vip] as const));
  const vipOf = new Map([...aliases, ...vips]);
  return (bind: readonly string[]): ReadonlyMap<string, string> => {
    const named = bind.flatMap((address) => {
      const vip = vipOf.get(address);
      return vip === undefined ? [] : [[address, vip] as const];
    });
    return named.length > 0 ? new Map(named) : vips;
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

/** The distinct lists of addresses on which a website listens, and a text that is equal for equal lists. */
const bindsOf = once(({ at }: ClusterWebsite) => {
  const binds = new Map(at.map(({ known: { bind } }) => [bind.join(" "), bind]));
  return { addresses: [...binds.keys()].join("\n"), binds: [...binds.values()] };
});

const onceMasters = createMemo<(website: ClusterWebsite) => Masters>();

export function isMaster({ names }: Masters, { identity }: { readonly identity: Identity }): boolean {
  return names.has(identity.appliance);
}

/** The masters of each website, found once for each distinct set of addresses. */
export function mastersIn({ facts, groups }: Subject): (website: ClusterWebsite) => Masters {
  return onceMasters(groups, [facts.groups], () => {
    const listening = listeningIn(facts.groups);
    const byVip = new Map<string, readonly string[]>();
    for (const group of groups.values()) {
      const { vip } = group.facts;
      byVip.set(vip, [...(byVip.get(vip) ?? []), ...mastersOf(group)]);
    }
    const byAddresses = new Map<string, Masters>();
    return (website) => {
      const { addresses, binds } = bindsOf(website);
      const known = byAddresses.get(addresses);
      if (known !== undefined) return known;
      const vips = new Set(binds.flatMap((bind) => [...listening(bind).values()]));
      const names = new Set([...vips].flatMap((vip) => byVip.get(vip) ?? []));
      const masters = { names, text: [...names].toSorted().join("\n") };
      byAddresses.set(addresses, masters);
      return masters;
    };
  });
}

function mastersOf({ facts, state, latestMaster }: GroupVerdict): readonly string[] {
  const masters = membersIn(facts, "master");
  return state === "changing" && latestMaster !== undefined ? [...masters, latestMaster] : masters;
}
