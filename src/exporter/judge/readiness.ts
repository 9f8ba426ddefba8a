import type { VrrpListSnapshot } from "../fleet/snapshot.ts";
import { kept, memo } from "../../support/kept.ts";
import { EFFECTS, RISK_KINDS, type Effect, type FailoverState } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import { reachTo, riskOf, takeoversIn, type Takeover, type Takeovers } from "./takeovers.ts";
import {
  sinceOf,
  type Case,
  type ClusterVerdict,
  type FailoverVerdict,
  type Outlook,
  type Risk,
  type WebsiteVerdict,
} from "./verdict.ts";
import {
  absenceAt,
  isServed,
  listingOf,
  servesOnly,
  sideOf,
  websiteRisks,
  type Listing,
} from "./website-risks.ts";

const MAX_RISKS = 50;

/** Returns the verdicts on the failovers of a cluster: the same objects while nothing in them changes. */
export function failoverVerdicts(
  given: Case & Pick<ClusterVerdict, "groups" | "websites">,
): ClusterVerdict["failovers"] {
  const { basis, before, wasPolled, at, memory, groups, websites } = given;
  const listings = basis.appliances.map(({ inventory }) => listingOf(inventory));
  const hasDisabled = basis.disabled.length > 0;
  const lists = basis.appliances.map(({ list }) => list);
  const outlooks = outlooksIn(groups, { groups, websites, listings, lists, hasDisabled });
  const verdicts = basis.appliances.flatMap(({ identity }) => {
    const outlook = outlooks.get(identity.appliance);
    if (outlook === undefined) return [];
    const old = before?.failovers.get(identity.appliance);
    const remembered = memory?.get(subjectKeys.readiness(identity.appliance));
    const sawBeginning = remembered === undefined && wasPolled;
    const sinceMs = sinceOf(remembered ?? old, outlook.state, sawBeginning, at);
    const verdict: FailoverVerdict = { kind: "failover", identity, sinceMs, ...outlook };
    return [[identity.appliance, kept(old, verdict)] as const];
  });
  return kept(before?.failovers, new Map(verdicts));
}

interface Setting extends Pick<ClusterVerdict, "groups" | "websites"> {
  /** The completeness of the inventories by member, in the same order as `lists`. */
  readonly listings: readonly Listing[];
  readonly lists: readonly (VrrpListSnapshot | undefined)[];
  readonly hasDisabled: boolean;
}

/** The keys are the names of the appliances that would stop. */
const outlooksIn = memo((setting: Setting): ReadonlyMap<string, Outlook> => {
  const { groups, websites, listings, lists, hasDisabled } = setting;
  if (hasDisabled) return new Map();
  const takeovers = takeoversIn(groups);
  const sharedNames = repeated(Array.from(websites.values(), ({ website }) => website));
  const all = Array.from(websites.values(), (website) => {
    const isNameShared = sharedNames.has(website.website);
    return changesOf(website, { website, isNameShared, takeovers, listings });
  });
  const outlooks = Array.from(takeovers.byMaster, ([name, takeover], nth) => {
    const own = all.flatMap((changes) => changes[nth] ?? []);
    const risks = worstFirst([
      ...takeover.risks,
      ...unlistedRisks({ listings, lists }, name, takeover),
      ...own.flatMap((each) => each.risks),
    ]);
    const worst = risks[0]?.effect ?? "none";
    const next = risks[MAX_RISKS];
    const outlook: Outlook = {
      state: STATE_OF[worst],
      successors: [...takeover.everywhere].flatMap(([heir, { counts }]) => (counts ? heir : [])),
      addresses: takeover.addresses,
      websites: own.filter((each) => each.isServed).length,
      risks: risks.slice(0, MAX_RISKS),
      more: next && { count: risks.length - MAX_RISKS, worst: next },
      decisive: risks.filter(({ effect }) => effect === worst).length,
    };
    return [name, outlook] as const;
  });
  return new Map(outlooks);
});

/** The state of a failover, by the effect of its worst risk. */
export const STATE_OF: Readonly<Record<Effect, FailoverState>> = {
  outage: "outage",
  loss: "losses",
  uncertain: "unknown",
  none: "ready",
};

export function worstFirst(risks: readonly Risk[]): readonly Risk[] {
  return risks.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ effect, risk }: Risk): number {
  return EFFECTS.indexOf(effect) * RISK_KINDS.length + RISK_KINDS.indexOf(risk);
}

/** Returns risks for unknown interfaces or websites of an appliance, since nobody knows what is lost there. */
function unlistedRisks(
  { listings, lists }: Pick<Setting, "listings" | "lists">,
  name: string,
  { everywhere }: Takeover,
): readonly Risk[] {
  return listings.flatMap(({ identity: { appliance }, isDiscovered, isWhole }, nth) => {
    const counts = appliance === name || everywhere.get(appliance)?.counts;
    if (counts === undefined) return [];
    const all = { successor: appliance === name ? "" : appliance, subject: "all", key: "" };
    const isUnreadable = (lists[nth]?.anomalies.bad_interface ?? 0) > 0;
    const isUnlisted = isDiscovered && !isWhole;
    return [
      ...(isUnreadable ? [riskOf("address_unknown", all, counts)] : []),
      ...(isUnlisted ? [riskOf("website_unknown", all, counts)] : []),
    ];
  });
}

function repeated(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(names.filter((name) => seen.size === seen.add(name).size));
}

/** The change of a website if an appliance stops. */
interface Change {
  /** Whether visitors reach the website at the appliance now. */
  readonly isServed: boolean;
  readonly risks: readonly Risk[];
}

interface ChangeSetting extends Pick<Setting, "listings"> {
  readonly website: WebsiteVerdict;
  readonly isNameShared: boolean;
  readonly takeovers: Takeovers;
}

/** Returns the changes of a website if each MASTER stops, in the order of the takeovers. Most polls change one website of a cluster. */
const changesOf = memo((setting: ChangeSetting): readonly Change[] =>
  Array.from(setting.takeovers.byMaster, ([master, takeover]) => changeOf(setting, master, takeover)),
);

function changeOf(setting: ChangeSetting, master: string, takeover: Takeover): Change {
  const { website, isNameShared, takeovers, listings } = setting;
  const { key, website: name } = website;
  const here = sideOf(website, master);
  const isHere = here !== undefined && isServed(here);
  const reach = isHere ? reachTo(here.known.bind, takeover, takeovers.addresses) : takeover.everywhere;
  const risks = Array.from(reach ?? []).flatMap(([successor, { counts, addresses }]) => {
    const listing = listings.find(({ identity }) => identity.appliance === successor);
    const there = sideOf(website, successor) ?? (listing && absenceAt(listing, website, here));
    if (there === undefined) return [];
    const found = isHere ? websiteRisks(here, there, addresses) : servesOnly(there, website, master);
    return found.map(([risk, protocol]) => {
      const words = [isNameShared ? `${name} (${key})` : name, protocol];
      return riskOf(risk, { successor, subject: words.join(" ").trimEnd(), key, protocol }, counts);
    });
  });
  return { isServed: isHere && reach !== undefined, risks };
}
