import { isWithoutAddress } from "../fleet/cluster-websites.ts";
import type {
  ApplianceSnapshot,
  ClusterSnapshot,
  ClusterWebsite,
  FoundWebsiteSnapshot,
  KnownWebsiteSnapshot,
  WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { isSame, kept, once } from "../support/kept.ts";
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
  type ProtocolVerdict,
  sinceOf,
  type WebsiteVerdict,
} from "./verdict.ts";
import { isMaster, lacks, mastersIn, type Masters, type Subject } from "./websites.ts";

/** A website as the appliances of its cluster test and describe it now. */
interface Website extends Pick<ClusterWebsite, "key" | "websiteId" | "website"> {
  readonly tests: readonly WebsiteSnapshot[];
  /** Empty where it is not discovered. */
  readonly found: readonly FoundWebsiteSnapshot[];
  readonly masters: Masters;
}

/** The verdicts on the websites of a cluster. Those of which no poll finds anything new, as most do, are not judged again. */
export function websiteVerdicts(given: Case & Subject): Pick<ClusterVerdict, "websites" | "differences"> {
  const { facts, before } = given;
  if (before !== undefined && isAsBefore(given, before)) return before;
  const isKnown = createIsKnown(given, before);
  const verdicts = facts.websites.flatMap((joined) => {
    const old = before?.websites.get(joined.key);
    if (isKnown(joined)) return old ?? [];
    const website = websiteOf(joined, given);
    if (website.tests.length + website.found.length === 0) return [];
    return kept(old, websiteVerdict(website, old, given));
  });
  const areKept = before !== undefined && isSame(verdicts, [...before.websites.values()]);
  return {
    websites: areKept ? before.websites : new Map(verdicts.map((verdict) => [verdict.key, verdict])),
    differences: kept(before?.differences, differenceCounts(facts, verdicts)),
  };
}

/** Whether everything on which verdicts on websites depend is as before. */
function isAsBefore({ facts, groups }: Subject, before: Subject): boolean {
  const { websites, appliances } = before.facts;
  if (facts.websites !== websites || groups !== before.groups) return false;
  return facts.appliances.every((one, nth) => {
    const old = appliances[nth];
    if (one.discovery !== old?.discovery) return false;
    return (
      one.websites === old?.websites || one.websites.every((test, at) => isSameTest(test, old?.websites[at]))
    );
  });
}

function isSameTest(test: WebsiteSnapshot | undefined, old: WebsiteSnapshot | undefined): boolean {
  if (test === undefined || old === undefined) return test === old;
  return test.results === old.results && isPolled(test) === isPolled(old);
}

/** Returns whether everything on which the verdict on a website depends is as before. */
function createIsKnown(now: Subject, before: Subject | undefined): (website: ClusterWebsite) => boolean {
  if (before === undefined || !isSame(sharedBasisOf(now), sharedBasisOf(before))) return () => false;
  const [masters, earlier] = [mastersIn(now), mastersIn(before)];
  const areKept = now.facts.websites === before.facts.websites;
  const isKept = (joined: ClusterWebsite): boolean => areKept || setOf(before.facts.websites).has(joined);
  return (joined) => {
    if (!isKept(joined) || (masters !== earlier && masters(joined).text !== earlier(joined).text))
      return false;
    return joined.at.every(({ member, test, known }) => {
      const [one, old] = [now.facts.appliances[member], before.facts.appliances[member]];
      if (one === old) return true;
      if (!isSameTest(one?.websites[test], old?.websites[test])) return false;
      return one?.found === old?.found || isFound(known, one) === isFound(known, old);
    });
  };
}

/** What each of them depends on besides its own website. */
function sharedBasisOf({ facts: { appliances }, groups }: Subject): readonly unknown[] {
  const members = appliances.flatMap(({ discovery }) => [discovery?.list.state, discovery?.isComplete]);
  return [groups.size > 0, ...members];
}

function websiteOf(joined: ClusterWebsite, subject: Subject): Website {
  const { key, websiteId, website, at } = joined;
  const { appliances } = subject.facts;
  const tests = at.flatMap(({ member, test }) => appliances[member]?.websites[test] ?? []);
  const found = at.flatMap(({ member, known }) => (isFound(known, appliances[member]) ? [known] : []));
  return { key, websiteId, website, tests, found, masters: mastersIn(subject)(joined) };
}

function isFound(
  known: KnownWebsiteSnapshot,
  appliance: ApplianceSnapshot | undefined,
): known is FoundWebsiteSnapshot {
  return appliance !== undefined && setOf(appliance.found).has(known);
}

const setOf = once((list: readonly unknown[]): ReadonlySet<unknown> => new Set(list));

function websiteVerdict(
  website: Website,
  old: WebsiteVerdict | undefined,
  given: Case & Subject,
): WebsiteVerdict {
  const { cluster, labels, appliances } = given.facts;
  const { tests, masters: _masters, ...named } = website;
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
  website: Website,
  old: WebsiteVerdict | undefined,
  { facts: { appliances, disabled }, groups, wasPolled, at }: Case & Subject,
): readonly ProtocolVerdict[] {
  const { tests, masters } = website;
  const isTested = tests.some(isPolled);
  // What a master finds is not unknown before it was asked.
  const isPending = tests.some((test) => isMaster(masters, test) && !isPolled(test));
  return protocolsOf(tests).map((protocol) => {
    const before = old?.states.find((each) => each.protocol === protocol);
    const views = tests.flatMap((test): readonly View[] => {
      const known = test.results.find((each) => each.protocol === protocol);
      // An appliance whose answer is known may lack the protocol.
      if (known === undefined && test.results.length > 0) return [];
      const { result = "unknown", isUnstable = false } = known ?? {};
      return [{ isMaster: isMaster(masters, test), result, isUnstable }];
    });
    const found = isTested
      ? judgeWebsite(views, { hasGroups: groups.size > 0, hasDisabled: disabled.length > 0 })
      : undefined;
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
  { key, found, masters }: Website,
  appliances: ClusterSnapshot["appliances"],
): WebsiteState | undefined {
  const isOff = found.some((website) => website.details.isEnabled === false && isMaster(masters, website));
  const mayHave = appliances
    .filter((one) => isMaster(masters, one))
    .some((one) => (one.discovery === undefined ? !isWithoutAddress(key) : !lacks(one, key)));
  if (!isOff && !mayHave) return judged;
  if (judged === "unknown") return undefined;
  if (judged !== "down") return judged;
  return isOff ? undefined : "partially_down";
}

function backendState(
  { key, found, masters }: Website,
  states: readonly ProtocolVerdict[],
  { appliances }: ClusterSnapshot,
): BackendState | undefined {
  const views = found.map((website) => ({ details: website.details, isMaster: isMaster(masters, website) }));
  const isUp = states.length > 0 && states.every(({ state }) => state === "up" || state === "unstable");
  const isMasterSilent = appliances
    .filter((one) => isMaster(masters, one) && !found.some(({ identity }) => identity === one.identity))
    .some(({ discovery }) => discovery?.known.has(key));
  return judgeBackends(views, { isUp, isMasterSilent });
}

/** Whether the websites of the members can be compared: all lists are known. */
function areCompared({ appliances }: ClusterSnapshot): boolean {
  return appliances.length > 1 && appliances.every(({ discovery }) => discovery?.list.state === "succeeded");
}

function differencesOf({ key, found }: Website, facts: ClusterSnapshot): readonly Difference[] {
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
