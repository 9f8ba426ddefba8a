import { isWithoutAddress } from "../fleet/cluster-websites.ts";
import type {
  ApplianceSnapshot,
  ClusterWebsite,
  FoundWebsiteSnapshot,
  KnownWebsiteSnapshot,
  WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { kept, memo, once } from "../support/kept.ts";
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
  const results = facts.appliances.map(resultsOf);
  const basis = { cluster, labels, websites, members, results, groups, hasDisabled: disabled.length > 0 };
  const { judged, differences } = judgedWebsites(websites, basis);
  const earlier = before && judgedIn(before.websites);
  // Most polls find nothing new.
  if (before && judged.length === earlier?.length && judged.every((each, nth) => each === earlier[nth]))
    return { websites: before.websites, differences };
  const verdicts = judged.map((each) => withSince(each, before?.websites.get(each.key), given));
  return { websites: new Map(verdicts.map((verdict) => [verdict.key, verdict])), differences };
}

const judgedIn = once((websites: ClusterVerdict["websites"]) =>
  Array.from(websites.values(), ({ judged }) => judged),
);

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

/** Returns what an appliance knows of its websites: the same object until a poll of the appliance finds something new. */
const memberOf = once((appliance: ApplianceSnapshot) =>
  sameMember(appliance.identity, knowledgeOf(appliance)),
);
type Member = ReturnType<typeof knowledgeOf>;
const sameMember = memo((member: Member) => member);

function knowledgeOf({ identity, found, discovery }: ApplianceSnapshot) {
  return {
    name: identity.appliance,
    found,
    // By address; `undefined` without discovery.
    known: discovery?.known,
    isListed: discovery?.list.state === "succeeded",
    isComplete: discovery?.isComplete === true,
    areDetailsKnown:
      discovery?.isPolled === true && (discovery.details?.state ?? "succeeded") === "succeeded",
  };
}

/** Returns what each test of an appliance found; `undefined` before the first one. The same list until a test finds something new. */
const resultsOf = once(({ identity, websites }: ApplianceSnapshot) =>
  sameResults(identity, { results: websites.map(({ results }) => results) }),
);
type Results = readonly WebsiteSnapshot["results"][];
const sameResults = memo(({ results }: { readonly results: Results }) => results);

/** Holds what verdicts on websites depend on besides what tests find. */
interface Setting extends Pick<JudgedWebsite, "cluster" | "labels"> {
  readonly members: readonly Member[];
  readonly groups: Groups;
  readonly hasDisabled: boolean;
}

interface Basis extends Setting {
  readonly websites: readonly ClusterWebsite[];
  /** By member. */
  readonly results: readonly Results[];
}

const judgedWebsites = memo(
  (basis: Basis, before: { readonly differences: WebsiteVerdicts["differences"] } | undefined) => {
    const { cluster, labels, websites, members, results, groups, hasDisabled } = basis;
    const known = knownIn(websites, { cluster, labels, websites, members, groups, hasDisabled });
    const judged = known.map((facts) => {
      const { website } = facts;
      const tests = website.at.map(({ member, test }) => results[member]?.[test]);
      return judgedWebsite(website, { facts, results: tests });
    });
    return { judged, differences: kept(before?.differences, differenceCounts(judged, members)) };
  },
);

/** Returns what is known of each website that is tested or described. Most polls are tests, which change nothing of it. */
const knownIn = memo(({ websites, ...setting }: Omit<Basis, "results">) =>
  websites
    .map((website) => factsOf(website, { ...setting, website }))
    .filter(({ found, website }) => found.length > 0 || website.at.some(({ test }) => test >= 0)),
);

function isFound(known: KnownWebsiteSnapshot, member: Member | undefined): known is FoundWebsiteSnapshot {
  return member !== undefined && setOf(member.found).has(known);
}

const setOf = once((list: readonly unknown[]): ReadonlySet<unknown> => new Set(list));

/** Whether a member is known to lack a website: all that it has are known, and where this one is. */
function isLacking({ known, isComplete }: Member, key: string): boolean {
  return isComplete && !isWithoutAddress(key) && known?.has(key) === false;
}

export function lacks(appliance: ApplianceSnapshot, key: string): boolean {
  return isLacking(memberOf(appliance), key);
}

/** Whether the websites of the members can be compared: all lists are known. */
function areCompared(members: readonly Member[]): boolean {
  return members.length > 1 && members.every(({ isListed }) => isListed);
}

/** Returns what is known of one website besides what tests find. Appliances are named. */
const factsOf = memo(
  (given: Setting & { readonly website: ClusterWebsite }, before: WebsiteFacts | undefined) =>
    kept(before, websiteFacts(given)),
);
type WebsiteFacts = ReturnType<typeof websiteFacts>;

function websiteFacts(given: Setting & { readonly website: ClusterWebsite }) {
  const { cluster, labels, members, groups, hasDisabled, website } = given;
  const { key, at } = website;
  const masters = mastersIn(groups)(website);
  const found = at.flatMap(({ member, known }) => (isFound(known, members[member]) ? [known] : []));
  const lacking = members.filter((member) => isLacking(member, key)).map(({ name }) => name);
  const atMasters = members.filter(({ name }) => masters.includes(name));
  return {
    cluster,
    labels,
    names: members.map(({ name }) => name),
    website,
    found,
    masters,
    lacking,
    mayMastersHave: atMasters.some(({ name, known }) =>
      known === undefined ? !isWithoutAddress(key) : !lacking.includes(name),
    ),
    // A master has it, and its details are not known now.
    isMasterSilent: atMasters.some(
      ({ name, known }) =>
        known?.has(key) === true && !found.some(({ identity }) => identity.appliance === name),
    ),
    hasDisabled,
    hasGroups: groups.size > 0,
    areCompared: areCompared(members),
  };
}

interface WebsiteBasis {
  readonly facts: WebsiteFacts;
  /** By the mentions of the website. */
  readonly results: Results;
}

const judgedWebsite = memo(
  ({ facts, results }: WebsiteBasis, before: JudgedWebsite | undefined): JudgedWebsite => {
    const { cluster, labels, names, website, found, masters, isMasterSilent } = facts;
    const { key, websiteId, website: name } = website;
    const tests = testsIn(facts, results);
    const ids = Object.fromEntries(tests.toReversed().map((test) => [test.appliance, test.websiteId]));
    const isSameId = names.every((each) => ids[each] === websiteId);
    const views = found.map(({ details, identity }) => {
      return { details, isMaster: masters.includes(identity.appliance) };
    });
    const isOff = views.some(({ details, isMaster }) => details.isEnabled === false && isMaster);
    const states = statesIn(tests, isOff, facts);
    const isUp = states.length > 0 && states.every(({ state }) => state === "up" || state === "unstable");
    const backends = judgeBackends(views, { isUp, isMasterSilent });
    const differences = facts.areCompared && found.length > 0 ? differencesIn(found, facts.lacking) : [];
    const judged = { found, ids: isSameId ? undefined : ids, states, backends, differences };
    return kept(before, { kind: "website", cluster, labels, key, websiteId, website: name, ...judged });
  },
);

function testsIn({ website, masters }: WebsiteFacts, results: Results) {
  return website.at.flatMap(({ test, known: { identity, websiteId } }, nth) => {
    const { appliance } = identity;
    if (test < 0) return [];
    return [{ appliance, websiteId, results: results[nth], isMaster: masters.includes(appliance) }];
  });
}

function statesIn(
  tests: ReturnType<typeof testsIn>,
  isOff: boolean,
  facts: WebsiteFacts,
): JudgedWebsite["states"] {
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
    const found = isTested ? judgeWebsite(views, facts) : undefined;
    const judged = found === "unknown" && isPending ? undefined : found;
    const isElsewhere = views.every(({ isMaster }) => !isMaster);
    return { protocol, state: isElsewhere ? withoutMasters(judged, isOff, facts.mayMastersHave) : judged };
  });
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
