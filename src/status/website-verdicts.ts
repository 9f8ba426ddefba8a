import type { ApplianceSnapshot, ClusterSnapshot, WebsiteSnapshot } from "../fleet/snapshot.ts";
import { isSame, keptEqual } from "../support/kept.ts";
import {
  type Difference,
  DIFFERENCES,
  differencesIn,
  judgeBackends,
  judgeWebsite,
  type View,
} from "./judge-website.ts";
import type { BackendState, WebsiteState } from "./states.ts";
import {
  type Case,
  type ClusterVerdict,
  type ClusterWebsite,
  type ProtocolVerdict,
  sinceOf,
  type WebsiteVerdict,
} from "./verdict.ts";
import { isWithoutAddress, lacks, websitesIn, type Subject } from "./websites.ts";

/** The verdicts on the websites of a cluster; the same objects as before while no poll finds anything new, as most do. */
export function websiteVerdicts(given: Case & Subject): Pick<ClusterVerdict, "websites" | "differences"> {
  const { facts, before } = given;
  if (before !== undefined && isAsBefore(given, before)) return before;
  const verdicts = websitesIn(given).map((website) => {
    const old = before?.websites.get(website.key);
    return keptEqual(old, websiteVerdict(website, old, given));
  });
  return {
    websites: new Map(verdicts.map((verdict) => [verdict.key, verdict])),
    differences: differenceCounts(facts, verdicts),
  };
}

/** Whether everything on which verdicts on websites depend is as before. */
function isAsBefore(now: Subject, before: Subject): boolean {
  const earlier = before.facts.appliances;
  return (
    isSame(contextOf(now), contextOf(before)) &&
    now.facts.appliances.every(
      (one, nth) => one === earlier[nth] || isSame(basisOf(one), basisOf(earlier[nth])),
    )
  );
}

function contextOf({ facts: { labels, hasDisabled, appliances }, groups }: Subject): readonly unknown[] {
  return [labels, hasDisabled, appliances.length, ...groups.values()];
}

function basisOf(member: ApplianceSnapshot | undefined): readonly unknown[] {
  const tests = member?.websites.flatMap((test) => {
    return [test.websiteId, test.website, test.address, test.bind, test.results, isPolled(test)];
  });
  return [member?.identity, member?.discovery, member?.found, ...(tests ?? [])];
}

function websiteVerdict(
  website: ClusterWebsite,
  old: WebsiteVerdict | undefined,
  given: Case & Subject,
): WebsiteVerdict {
  const { cluster, labels, appliances } = given.facts;
  const { tests, isMaster: _isMaster, ...named } = website;
  const ids = Object.fromEntries(
    tests.toReversed().map(({ identity, websiteId }) => [identity.appliance, websiteId]),
  );
  const isSameId = appliances.every(({ identity }) => ids[identity.appliance] === named.websiteId);
  const states = protocolVerdicts(website, old, given);
  const backends = backendState(website, states, given.facts);
  const differences = differencesOf(website, given.facts);
  const judged = { ids: isSameId ? undefined : ids, states, backends, differences };
  return { kind: "website", cluster, labels, ...named, ...judged };
}

function protocolVerdicts(
  website: ClusterWebsite,
  old: WebsiteVerdict | undefined,
  { facts: { appliances, hasDisabled }, groups, wasPolled, at }: Case & Subject,
): readonly ProtocolVerdict[] {
  const { tests, isMaster } = website;
  const isTested = tests.some(isPolled);
  // What a master finds is not unknown before it was asked.
  const isPending = tests.some((test) => isMaster(test) && !isPolled(test));
  return protocolsOf(tests).map((protocol) => {
    const before = old?.states.find((each) => each.protocol === protocol);
    const views = tests.flatMap((test): readonly View[] => {
      const known = test.results.find((each) => each.protocol === protocol);
      // An appliance whose answer is known may lack the protocol.
      if (known === undefined && test.results.length > 0) return [];
      return [{ isMaster: isMaster(test), result: known?.result ?? "unknown" }];
    });
    const found = isTested ? judgeWebsite(views, { hasGroups: groups.size > 0, hasDisabled }) : undefined;
    const judged = found === "unknown" && isPending ? undefined : found;
    const isElsewhere = views.every((view) => !view.isMaster);
    const state = isElsewhere ? withoutMasters(judged, website, appliances) : judged;
    const sinceMs = sinceOf(before, state, wasPolled && before?.state !== undefined, at);
    return { protocol, state, sinceMs };
  });
}

function protocolsOf(tests: readonly WebsiteSnapshot[]): readonly ProtocolVerdict["protocol"][] {
  const known = new Set(tests.flatMap(({ results }) => results.map(({ protocol }) => protocol)));
  return known.size === 0 && tests.length > 0 ? [""] : [...known].toSorted();
}

function isPolled({ health }: WebsiteSnapshot): boolean {
  return health.state !== "never_polled";
}

/**
 * The verdict on a website that none of the known masters tests, by what the other members find. The masters' visitors do not get
 * that, unless all masters lack the website: one may have it disabled, and serve it to nobody; have it and not test it; or have
 * more websites than are known.
 */
function withoutMasters(
  judged: WebsiteState | undefined,
  { key, found, isMaster }: ClusterWebsite,
  appliances: ClusterSnapshot["appliances"],
): WebsiteState | undefined {
  const isOff = found.some((website) => website.details.isEnabled === false && isMaster(website));
  const mayHave = appliances
    .filter(isMaster)
    .some((one) => (one.discovery === undefined ? !isWithoutAddress(key) : !lacks(one, key)));
  if (!isOff && !mayHave) return judged;
  if (judged === "unknown") return undefined;
  if (judged !== "down") return judged;
  return isOff ? undefined : "partially_down";
}

function backendState(
  { key, found, isMaster }: ClusterWebsite,
  states: readonly ProtocolVerdict[],
  { appliances }: ClusterSnapshot,
): BackendState | undefined {
  const views = found.map((website) => ({ details: website.details, isMaster: isMaster(website) }));
  const isUp = states.length > 0 && states.every(({ state }) => state === "up");
  const isMasterSilent = appliances
    .filter((one) => isMaster(one) && !found.some(({ identity }) => identity === one.identity))
    .some(({ discovery }) => discovery?.known.has(key));
  return judgeBackends(views, { isUp, isMasterSilent });
}

/** Whether the websites of the members can be compared: all lists are known. */
function areCompared({ appliances }: ClusterSnapshot): boolean {
  return appliances.length > 1 && appliances.every(({ discovery }) => discovery?.list.state === "succeeded");
}

function differencesOf({ key, found }: ClusterWebsite, facts: ClusterSnapshot): readonly Difference[] {
  if (found.length === 0 || !areCompared(facts)) return [];
  // A member lacks a website only if all its websites are known.
  const lacking = facts.appliances.filter((member) => lacks(member, key));
  const names = lacking.map(({ identity }) => identity.appliance);
  return differencesIn(found, names);
}

/** Nothing says that the members agree while something is not known. */
function differenceCounts(
  facts: ClusterSnapshot,
  websites: readonly WebsiteVerdict[],
): ClusterVerdict["differences"] {
  if (!areCompared(facts)) return {};
  const members = facts.appliances.map(({ discovery }) => discovery);
  const isComplete = members.every((discovery) => discovery?.isComplete);
  const areDetailsKnown = members.every(
    (discovery) => discovery?.isPolled === true && (discovery.details?.state ?? "succeeded") === "succeeded",
  );
  const counts = DIFFERENCES.flatMap((kind) => {
    const count = websites.filter((each) => each.differences.some((one) => one.kind === kind)).length;
    const isKnown = kind === "missing" ? isComplete : areDetailsKnown;
    return count > 0 || isKnown ? [[kind, count] as const] : [];
  });
  return Object.fromEntries(counts);
}
