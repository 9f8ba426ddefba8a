import type { VrrpListSnapshot } from "../fleet/snapshot.ts";
import { kept, memo } from "../../support/kept.ts";
import { EFFECTS, RISK_KINDS, type Effect, type ReadinessState } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import {
  takenOverAt,
  riskOf,
  groupsReadinessIn,
  type GroupReadiness,
  type GroupsReadiness,
} from "./group-readiness.ts";
import {
  sinceOf,
  type Case,
  type ClusterVerdict,
  type ReadinessVerdict,
  type Readiness,
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

/** Returns the verdicts on the readiness of a cluster: the same objects while nothing in them changes. */
export function readinessVerdicts(
  given: Case & Pick<ClusterVerdict, "groups" | "websites">,
): ClusterVerdict["readiness"] {
  const { cachedInputs, before, wasPolled, at, memory, groups, websites } = given;
  const listings = cachedInputs.appliances.map(({ inventory }) => listingOf(inventory));
  const hasDisabled = cachedInputs.disabled.length > 0;
  const lists = cachedInputs.appliances.map(({ list }) => list);
  const all = readinessIn(groups, { groups, websites, listings, lists, hasDisabled });
  const verdicts = cachedInputs.appliances.flatMap(({ identity }) => {
    const readiness = all.get(identity.appliance);
    if (readiness === undefined) return [];
    const old = before?.readiness.get(identity.appliance);
    const remembered = memory?.get(subjectKeys.readiness(identity.appliance));
    const sawBeginning = remembered === undefined && wasPolled;
    const sinceMs = sinceOf(remembered ?? old, readiness.state, sawBeginning, at);
    const verdict: ReadinessVerdict = { kind: "readiness", identity, sinceMs, ...readiness };
    return [[identity.appliance, kept(old, verdict)] as const];
  });
  return kept(before?.readiness, new Map(verdicts));
}

interface ReadinessInputs extends Pick<ClusterVerdict, "groups" | "websites"> {
  /** The completeness of the inventories by member, in the same order as `lists`. */
  readonly listings: readonly Listing[];
  readonly lists: readonly (VrrpListSnapshot | undefined)[];
  readonly hasDisabled: boolean;
}

/** The keys are the names of the appliances that would stop. */
const readinessIn = memo((inputs: ReadinessInputs): ReadonlyMap<string, Readiness> => {
  const { groups, websites, listings, lists, hasDisabled } = inputs;
  if (hasDisabled) return new Map();
  const groupsReadiness = groupsReadinessIn(groups);
  const sharedNames = repeated(Array.from(websites.values(), ({ website }) => website));
  const alikeTo = alikeIn(websites);
  const all = Array.from(websites.values(), (website) => {
    const isNameShared = sharedNames.has(website.website);
    const alike = alikeTo(website);
    return websiteReadinessByMaster(website, { website, alike, isNameShared, groupsReadiness, listings });
  });
  const byMaster = Array.from(groupsReadiness.byMaster, ([name, groupReadiness], nth) => {
    const own = all.flatMap((each) => each[nth] ?? []);
    const risks = worstFirst([
      ...groupReadiness.risks,
      ...unlistedRisks({ listings, lists }, name, groupReadiness),
      ...own.flatMap((each) => each.risks),
    ]);
    const worst = risks[0]?.effect ?? "none";
    const next = risks[MAX_RISKS];
    const readiness: Readiness = {
      state: STATE_OF[worst],
      successors: [...groupReadiness.everywhere].flatMap(([successor, { counts }]) =>
        counts ? successor : [],
      ),
      addresses: groupReadiness.addresses,
      websites: own.filter((each) => each.isServed).length,
      risks: risks.slice(0, MAX_RISKS),
      more: next && { count: risks.length - MAX_RISKS, worst: next },
      decisive: risks.filter(({ effect }) => effect === worst).length,
    };
    return [name, readiness] as const;
  });
  return new Map(byMaster);
});

/** The state of readiness, by the effect of its worst risk. */
export const STATE_OF: Readonly<Record<Effect, ReadinessState>> = {
  outage: "outage",
  loss: "losses",
  uncertain: "unknown",
  none: "ready",
};

/** Whether a risk costs visitors something of which no group has a problem: a loss, or an outage since a BACKUP takes nothing over. */
function isApart({ risk, effect }: Risk): boolean {
  return effect === "loss" || (effect === "outage" && risk === "takes_nothing_over");
}

/** Returns the risks for which an appliance is not ready to fail, apart from problems of groups; none if these are worse. */
export function risksApart({
  state,
  risks,
  more,
}: Pick<Readiness, "state" | "risks" | "more">): readonly Risk[] {
  const apart = [...risks, ...(more === undefined ? [] : [more.worst])].filter(isApart);
  return apart.some(({ effect }) => STATE_OF[effect] === state) ? apart : [];
}

export function worstFirst(risks: readonly Risk[]): readonly Risk[] {
  return risks.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ effect, risk }: Risk): number {
  return EFFECTS.indexOf(effect) * RISK_KINDS.length + RISK_KINDS.indexOf(risk);
}

/** Returns risks for unknown interfaces or websites of an appliance, since nobody knows what is lost there. */
function unlistedRisks(
  { listings, lists }: Pick<ReadinessInputs, "listings" | "lists">,
  name: string,
  { everywhere }: GroupReadiness,
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

/** The readiness for a website if an appliance stops. */
interface WebsiteReadiness {
  /** Whether visitors reach the website at the appliance now. */
  readonly isServed: boolean;
  readonly risks: readonly Risk[];
}

interface WebsiteReadinessInputs extends Pick<ReadinessInputs, "listings"> {
  readonly website: WebsiteVerdict;
  /** The other websites of the same host. */
  readonly alike: readonly WebsiteVerdict[];
  readonly isNameShared: boolean;
  readonly groupsReadiness: GroupsReadiness;
}

/** Returns the readiness for a website, in the order of `groupsReadiness`. Most polls change one website of a cluster. */
const websiteReadinessByMaster = memo((inputs: WebsiteReadinessInputs): readonly WebsiteReadiness[] =>
  Array.from(inputs.groupsReadiness.byMaster, ([master, groupReadiness]) =>
    websiteReadiness(inputs, master, groupReadiness),
  ),
);

function websiteReadiness(
  inputs: WebsiteReadinessInputs,
  master: string,
  groupReadiness: GroupReadiness,
): WebsiteReadiness {
  const { website, alike, isNameShared, groupsReadiness, listings } = inputs;
  const { key, website: name } = website;
  const here = websiteAtMember(website, master);
  const isHere = here !== undefined && isServed(here);
  const takenOver = isHere
    ? takenOverAt(here.known.bind, groupReadiness, groupsReadiness.addresses)
    : groupReadiness.everywhere;
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
