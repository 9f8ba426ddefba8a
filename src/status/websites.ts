import { isWithoutAddress } from "../fleet/cluster-websites.ts";
import type {
  ApplianceSnapshot,
  ClusterWebsite,
  FoundWebsiteSnapshot,
  KnownWebsiteSnapshot,
  ProtocolResult,
} from "../fleet/snapshot.ts";
import { kept, keptMap, memo, once } from "../support/kept.ts";
import {
  DIFFERENCES,
  differencesIn,
  judgeBackends,
  judgeWebsite,
  withoutMasters,
  type View,
} from "./judge-website.ts";
import { mastersIn } from "./masters.ts";
import {
  type Case,
  type ClusterVerdict,
  type JudgedWebsite,
  sinceOf,
  type WebsiteVerdict,
} from "./verdict.ts";

type WebsiteVerdicts = Pick<ClusterVerdict, "websites" | "differences">;
type Groups = ClusterVerdict["groups"];

/** The verdicts on the websites of a cluster: what is judged of them now, and since when. */
export function websiteVerdicts(given: Case & { readonly groups: Groups }): WebsiteVerdicts {
  const { facts, groups, before } = given;
  const { cluster, labels, websites, disabled } = facts;
  const members = facts.appliances.map(memberOf);
  const basis = { cluster, labels, websites, members, groups, hasDisabled: disabled.length > 0 };
  const { judged, differences } = judgedWebsites(websites, basis);
  const verdicts = judged.map((each) => withSince(each, before?.websites.get(each.key), given));
  const now = new Map(verdicts.map((verdict) => [verdict.key, verdict]));
  return { websites: keptMap(before?.websites, now), differences };
}

function withSince(
  judged: JudgedWebsite,
  old: WebsiteVerdict | undefined,
  { wasPolled, at }: Case,
): WebsiteVerdict {
  if (old?.judged === judged) return old;
  const states = judged.states.map(({ protocol, state }) => {
    const before = old?.states.find((each) => each.protocol === protocol);
    const sinceMs = sinceOf(before, state, wasPolled && before?.state !== undefined, at);
    return { protocol, state, sinceMs };
  });
  return { ...judged, judged, states };
}

/** Whether an appliance has a website; `undiscovered`: its websites are not discovered, so only its tests say so. */
type Presence = "listed" | "lacking" | "unknown" | "undiscovered";

/** What an appliance knows of its websites. */
interface Member {
  readonly name: string;
  /** What each of its tests found; `undefined` before the first one. */
  readonly results: readonly (readonly ProtocolResult[] | undefined)[];
  readonly found: readonly FoundWebsiteSnapshot[];
  /** By address; `undefined` without discovery. */
  readonly known: ReadonlyMap<string, unknown> | undefined;
  readonly isListed: boolean;
  readonly isComplete: boolean;
  readonly areDetailsKnown: boolean;
}

/** The same object until a poll of the appliance finds something new. */
const memberOf = once(({ identity, websites, found, discovery }: ApplianceSnapshot): Member =>
  sameMember(identity, {
    name: identity.appliance,
    results: websites.map(({ results }) => results),
    found,
    known: discovery?.known,
    isListed: discovery?.list.state === "succeeded",
    isComplete: discovery?.isComplete === true,
    areDetailsKnown:
      discovery?.isPolled === true && (discovery.details?.state ?? "succeeded") === "succeeded",
  }),
);
const sameMember = memo((member: Member) => member);

/** Everything on which what is judged of the websites of a cluster depends. */
interface Basis extends Pick<JudgedWebsite, "cluster" | "labels"> {
  readonly websites: readonly ClusterWebsite[];
  readonly members: readonly Member[];
  readonly groups: Groups;
  readonly hasDisabled: boolean;
}

const judgedWebsites = memo(
  (basis: Basis, before: { readonly differences: WebsiteVerdicts["differences"] } | undefined) => {
    const judged = basis.websites.flatMap((website) => judgedIn(website, basis) ?? []);
    return { judged, differences: kept(before?.differences, differenceCounts(judged, basis.members)) };
  },
);

/** What is judged of one website: the same object while nothing on which it depends has changed. */
function judgedIn(website: ClusterWebsite, basis: Basis): JudgedWebsite | undefined {
  const { cluster, labels, members, groups, hasDisabled } = basis;
  const { key, at } = website;
  const found = at.flatMap(({ member, known }) => (isFound(known, members[member]) ? [known] : []));
  if (found.length === 0 && at.every(({ test }) => test < 0)) return undefined;
  return judgedWebsite(website, {
    cluster,
    labels,
    website,
    results: at.map(({ member, test }) => members[member]?.results[test]),
    found,
    names: members.map(({ name }) => name),
    presences: members.map((member) => presenceOf(key, member)),
    masters: mastersIn(groups)(website),
    hasGroups: groups.size > 0,
    hasDisabled,
    areCompared: areCompared(members),
  });
}

function isFound(known: KnownWebsiteSnapshot, member: Member | undefined): known is FoundWebsiteSnapshot {
  return member !== undefined && setOf(member.found).has(known);
}

const setOf = once((list: readonly unknown[]): ReadonlySet<unknown> => new Set(list));

function presenceOf(key: string, { known, isComplete }: Member): Presence {
  if (known === undefined) return "undiscovered";
  if (known.has(key)) return "listed";
  return isComplete && !isWithoutAddress(key) ? "lacking" : "unknown";
}

/** Whether an appliance is known to lack a website: all that it has are known, and where this one is. */
export function lacks(appliance: ApplianceSnapshot, key: string): boolean {
  return presenceOf(key, memberOf(appliance)) === "lacking";
}

/** Whether the websites of the members can be compared: all lists are known. */
function areCompared(members: readonly Member[]): boolean {
  return members.length > 1 && members.every(({ isListed }) => isListed);
}

/** Everything on which what is judged of one website depends; by member where it is a list beside `found` and `masters`. */
interface WebsiteBasis extends Pick<JudgedWebsite, "cluster" | "labels" | "found"> {
  readonly website: ClusterWebsite;
  /** Of each mention of the website. */
  readonly results: Member["results"];
  readonly names: readonly string[];
  readonly presences: readonly Presence[];
  readonly masters: readonly string[];
  readonly hasGroups: boolean;
  readonly hasDisabled: boolean;
  readonly areCompared: boolean;
}

const judgedWebsite = memo((basis: WebsiteBasis, before: JudgedWebsite | undefined): JudgedWebsite => {
  const { cluster, labels, website, found, names, presences } = basis;
  const { key, websiteId, website: name } = website;
  const tests = testsIn(basis);
  const ids = Object.fromEntries(tests.toReversed().map((test) => [test.appliance, test.websiteId]));
  const isSameId = names.every((each) => ids[each] === websiteId);
  const states = statesIn(basis, tests);
  const backends = backendsIn(basis, states);
  const lacking = names.filter((_, nth) => presences[nth] === "lacking");
  const differences = basis.areCompared && found.length > 0 ? differencesIn(found, lacking) : [];
  const judged = { ids: isSameId ? undefined : ids, states, backends, differences };
  return kept(before, { kind: "website", cluster, labels, key, websiteId, website: name, found, ...judged });
});

function testsIn({ website, results, masters }: WebsiteBasis) {
  return website.at.flatMap(({ test, known: { identity, websiteId } }, nth) => {
    const { appliance } = identity;
    if (test < 0) return [];
    return [{ appliance, websiteId, results: results[nth], isMaster: masters.includes(appliance) }];
  });
}

function statesIn(basis: WebsiteBasis, tests: ReturnType<typeof testsIn>): JudgedWebsite["states"] {
  const isTested = tests.some(({ results }) => results !== undefined);
  // What a master finds is not unknown before it was asked.
  const isPending = tests.some(({ results, isMaster }) => isMaster && results === undefined);
  const known = new Set(tests.flatMap(({ results = [] }) => results.map(({ protocol }) => protocol)));
  const protocols = known.size === 0 && tests.length > 0 ? ([""] as const) : [...known].toSorted();
  return protocols.map((protocol) => {
    const views = tests.flatMap(({ results = [], isMaster }): readonly View[] => {
      const own = results.find((each) => each.protocol === protocol);
      // An appliance whose answer is known may lack the protocol.
      if (own === undefined && results.length > 0) return [];
      const { result = "unknown", isUnstable = false } = own ?? {};
      return [{ isMaster, result, isUnstable }];
    });
    const found = isTested ? judgeWebsite(views, basis) : undefined;
    const judged = found === "unknown" && isPending ? undefined : found;
    const isElsewhere = views.every(({ isMaster }) => !isMaster);
    return { protocol, state: isElsewhere ? withoutMasters(judged, mastersView(basis)) : judged };
  });
}

/** What the masters make of a website that none of them tests. */
function mastersView({ website: { key }, found, names, presences, masters }: WebsiteBasis) {
  const isOff = found.some(
    ({ details, identity }) => details.isEnabled === false && masters.includes(identity.appliance),
  );
  const mayHave = presences.some((presence, nth) => {
    if (!masters.includes(names[nth] ?? "")) return false;
    return presence === "undiscovered" ? !isWithoutAddress(key) : presence !== "lacking";
  });
  return { isOff, mayHave };
}

function backendsIn({ found, names, presences, masters }: WebsiteBasis, states: JudgedWebsite["states"]) {
  const views = found.map(({ details, identity: { appliance } }) => {
    return { appliance, details, isMaster: masters.includes(appliance) };
  });
  const isUp = states.length > 0 && states.every(({ state }) => state === "up" || state === "unstable");
  const isMasterSilent = names.some((name, nth) => {
    const isDescribed = views.some(({ appliance }) => appliance === name);
    return masters.includes(name) && presences[nth] === "listed" && !isDescribed;
  });
  return judgeBackends(views, { isUp, isMasterSilent });
}

/** Nothing says that the members agree while something is not known. */
function differenceCounts(
  websites: readonly JudgedWebsite[],
  members: readonly Member[],
): WebsiteVerdicts["differences"] {
  if (!areCompared(members)) return {};
  const isComplete = members.every((member) => member.isComplete);
  const areDetailsKnown = members.every((member) => member.areDetailsKnown);
  const counts = DIFFERENCES.flatMap((kind) => {
    const count = websites.filter((each) => each.differences.some((one) => one.kind === kind)).length;
    const isKnown = kind === "missing" ? isComplete : areDetailsKnown;
    return count > 0 || isKnown ? [[kind, count] as const] : [];
  });
  return Object.fromEntries(counts);
}
