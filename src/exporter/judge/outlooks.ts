import type { VrrpListSnapshot } from "../fleet/snapshot.ts";
import { kept, memo } from "../../support/kept.ts";
import { EFFECTS, RISK_KINDS, type Effect, type OutlookState } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import {
  takenOverAt,
  riskOf,
  groupOutlooksIn,
  type GroupOutlook,
  type GroupOutlooks,
} from "./group-outlooks.ts";
import {
  sinceOf,
  type Case,
  type ClusterVerdict,
  type OutlookVerdict,
  type Outlook,
  type Risk,
  type WebsiteVerdict,
} from "./verdict.ts";
import {
  absenceAt,
  alikeIn,
  isServed,
  listingOf,
  servesOnly,
  standInAt,
  websiteAtMember,
  websiteRisks,
  type Listing,
} from "./website-risks.ts";

const MAX_RISKS = 50;

/** Returns the verdicts on the outlooks of a cluster: the same objects while nothing in them changes. */
export function outlookVerdicts(
  given: Case & Pick<ClusterVerdict, "groups" | "websites">,
): ClusterVerdict["outlooks"] {
  const { cachedInputs, before, wasPolled, at, memory, groups, websites } = given;
  const listings = cachedInputs.appliances.map(({ inventory }) => listingOf(inventory));
  const hasDisabled = cachedInputs.disabled.length > 0;
  const lists = cachedInputs.appliances.map(({ list }) => list);
  const outlooks = outlooksIn(groups, { groups, websites, listings, lists, hasDisabled });
  const verdicts = cachedInputs.appliances.flatMap(({ identity }) => {
    const outlook = outlooks.get(identity.appliance);
    if (outlook === undefined) return [];
    const old = before?.outlooks.get(identity.appliance);
    const remembered = memory?.get(subjectKeys.readiness(identity.appliance));
    const sawBeginning = remembered === undefined && wasPolled;
    const sinceMs = sinceOf(remembered ?? old, outlook.state, sawBeginning, at);
    const verdict: OutlookVerdict = { kind: "outlook", identity, sinceMs, ...outlook };
    return [[identity.appliance, kept(old, verdict)] as const];
  });
  return kept(before?.outlooks, new Map(verdicts));
}

interface OutlookInputs extends Pick<ClusterVerdict, "groups" | "websites"> {
  /** The completeness of the inventories by member, in the same order as `lists`. */
  readonly listings: readonly Listing[];
  readonly lists: readonly (VrrpListSnapshot | undefined)[];
  readonly hasDisabled: boolean;
}

/** The keys are the names of the appliances that would stop. */
const outlooksIn = memo((inputs: OutlookInputs): ReadonlyMap<string, Outlook> => {
  const { groups, websites, listings, lists, hasDisabled } = inputs;
  if (hasDisabled) return new Map();
  const groupOutlooks = groupOutlooksIn(groups);
  const sharedNames = repeated(Array.from(websites.values(), ({ website }) => website));
  const alikeTo = alikeIn(websites);
  const all = Array.from(websites.values(), (website) => {
    const isNameShared = sharedNames.has(website.website);
    const alike = alikeTo(website);
    return websiteOutlooks(website, { website, alike, isNameShared, groupOutlooks, listings });
  });
  const outlooks = Array.from(groupOutlooks.byMaster, ([name, groupOutlook], nth) => {
    const own = all.flatMap((each) => each[nth] ?? []);
    const risks = worstFirst([
      ...groupOutlook.risks,
      ...unlistedRisks({ listings, lists }, name, groupOutlook),
      ...own.flatMap((each) => each.risks),
    ]);
    const worst = risks[0]?.effect ?? "none";
    const next = risks[MAX_RISKS];
    const outlook: Outlook = {
      state: STATE_OF[worst],
      successors: [...groupOutlook.everywhere].flatMap(([successor, { counts }]) =>
        counts ? successor : [],
      ),
      addresses: groupOutlook.addresses,
      websites: own.filter((each) => each.isServed).length,
      risks: risks.slice(0, MAX_RISKS),
      more: next && { count: risks.length - MAX_RISKS, worst: next },
      decisive: risks.filter(({ effect }) => effect === worst).length,
    };
    return [name, outlook] as const;
  });
  return new Map(outlooks);
});

/** The state of an outlook, by the effect of its worst risk. */
export const STATE_OF: Readonly<Record<Effect, OutlookState>> = {
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
  { listings, lists }: Pick<OutlookInputs, "listings" | "lists">,
  name: string,
  { everywhere }: GroupOutlook,
): readonly Risk[] {
  return listings.flatMap(({ identity: { appliance }, beyondLimit, isDiscovered, isWhole }, nth) => {
    const counts = appliance === name || everywhere.get(appliance)?.counts;
    if (counts === undefined) return [];
    const all = { successor: appliance === name ? "" : appliance, subject: "all", key: "" };
    const hasUnreadInterface = (lists[nth]?.anomalies.bad_interface ?? 0) > 0;
    const isUnlisted = isDiscovered && !isWhole;
    // Visitors lose nothing by a website that only the successor has.
    const unseen = appliance === name ? beyondLimit.map((id) => `#${id}`) : [];
    return [
      ...(hasUnreadInterface ? [riskOf("address_unknown", all, counts)] : []),
      ...(isUnlisted ? [riskOf("website_unknown", all, counts)] : []),
      ...unseen.map((id) => riskOf("website_unknown", { ...all, subject: id, key: id }, counts)),
    ];
  });
}

function repeated(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(names.filter((name) => seen.size === seen.add(name).size));
}

/** The outlook for a website if an appliance stops. */
interface WebsiteOutlook {
  /** Whether visitors reach the website at the appliance now. */
  readonly isServed: boolean;
  readonly risks: readonly Risk[];
}

interface WebsiteOutlookInputs extends Pick<OutlookInputs, "listings"> {
  readonly website: WebsiteVerdict;
  /** The other websites of the same host. */
  readonly alike: readonly WebsiteVerdict[];
  readonly isNameShared: boolean;
  readonly groupOutlooks: GroupOutlooks;
}

/** Returns the outlooks for a website, in the order of `groupOutlooks`. Most polls change one website of a cluster. */
const websiteOutlooks = memo((inputs: WebsiteOutlookInputs): readonly WebsiteOutlook[] =>
  Array.from(inputs.groupOutlooks.byMaster, ([master, groupOutlook]) =>
    websiteOutlook(inputs, master, groupOutlook),
  ),
);

function websiteOutlook(
  inputs: WebsiteOutlookInputs,
  master: string,
  groupOutlook: GroupOutlook,
): WebsiteOutlook {
  const { website, alike, isNameShared, groupOutlooks, listings } = inputs;
  const { key, website: name } = website;
  const here = websiteAtMember(website, master);
  const isHere = here !== undefined && isServed(here);
  const takenOver = isHere
    ? takenOverAt(here.known.bind, groupOutlook, groupOutlooks.addresses)
    : groupOutlook.everywhere;
  const risks = Array.from(takenOver ?? []).flatMap(([successor, { counts, addresses }]) => {
    const listing = listings.find(({ identity }) => identity.appliance === successor);
    const there =
      websiteAtMember(website, successor) ??
      standInAt(alike, successor, here) ??
      (listing && absenceAt(listing, website, here));
    if (there === undefined) return [];
    const others = alike.flatMap((each) => websiteAtMember(each, successor) ?? []);
    const found = isHere ? websiteRisks(here, there, addresses, others) : servesOnly(there, website, master);
    return found.map(([risk, protocol]) => {
      const words = [isNameShared ? `${name} (${key})` : name, protocol];
      return riskOf(risk, { successor, subject: words.join(" ").trimEnd(), key, protocol }, counts);
    });
  });
  return { isServed: isHere && takenOver !== undefined, risks };
}
