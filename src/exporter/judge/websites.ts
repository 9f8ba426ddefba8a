import { isWithoutAddress } from "../fleet/cluster-websites.ts";
import { isAwaited } from "../fleet/website.ts";
import type {
  ClusterSnapshot,
  ClusterWebsite,
  FoundWebsite,
  InventorySnapshot,
  KnownWebsite,
} from "../fleet/snapshot.ts";
import { kept, memo, once } from "../../support/kept.ts";
import { judgeBackends, judgeWebsite, withoutMasters, type MemberTest } from "./judge-website.ts";
import { unwatchedIn } from "./judge-group.ts";
import { decidingIn } from "./masters.ts";
import { serversIn, type Earlier, type Memory } from "./memory.ts";
import type { BackendState } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import {
  hidesWebsites,
  sinceOf,
  type Case,
  type ClusterVerdict,
  type LatestBackends,
  type ProtocolVerdict,
  type WebsiteVerdict,
} from "./verdict.ts";

type Groups = ClusterVerdict["groups"];
type Results = WebsiteVerdict["results"];
type WebsitesCase = Case & Pick<ClusterVerdict, "state" | "groups">;

/** Returns the verdicts on the websites of a cluster. A verdict whose inputs are the same as before is the same object. */
export function websiteVerdicts(given: WebsitesCase): ClusterVerdict["websites"] {
  const { cachedInputs, before, groups, memory } = given;
  const { cluster, labels, websites: all, appliances, disabled } = cachedInputs;
  const members = appliances.map(({ inventory }) => inventory);
  const hasUnwatched = disabled.length > 0 || unwatchedIn(cachedInputs).size > 0;
  const known = factsIn(all, { cluster, labels, websites: all, members, groups, hasUnwatched });
  const verdicts = known.map((each) => {
    const { key, at } = each.website;
    const old = before?.websites.get(key);
    const results = at.map(({ member, test }) => appliances[member]?.results[test]);
    const isSame = old?.facts === each && old.results.every((one, nth) => one === results[nth]);
    const isAsBefore = isSame && (memory === undefined || !isRemembered(old, memory));
    return isAsBefore ? old : websiteVerdict(each, results, old, given);
  });
  return kept(before?.websites, new Map(verdicts.map((each) => [each.key, each])));
}

function isRemembered({ key, states }: WebsiteVerdict, memory: Memory): boolean {
  return states.some(({ protocol }) => memory.has(subjectKeys.website(protocol, key)));
}

/** The inputs of verdicts on websites, besides the results of tests. */
interface WebsiteInputs extends Pick<ClusterSnapshot, "cluster" | "labels" | "websites"> {
  readonly members: readonly InventorySnapshot[];
  readonly groups: Groups;
  readonly hasUnwatched: boolean;
}

/** Returns the facts about each website that is tested or described. Most polls are tests, which do not change these facts. */
const factsIn = memo((setting: WebsiteInputs) => {
  const names = setting.members.map(nameOf);
  return setting.websites
    .map((website) => sameFacts(website, factsOf(website, names, setting)))
    .filter(({ found, website }) => found.length > 0 || website.at.some(({ test }) => test >= 0));
});

type JudgedWebsite = ReturnType<typeof factsOf>;
const sameFacts = memo((facts: JudgedWebsite) => facts);

/** Returns the inputs of the verdict on a website, besides the results of tests. They contain the names of appliances. */
function factsOf(
  website: ClusterWebsite,
  names: readonly string[],
  { cluster, labels, members, groups, hasUnwatched }: WebsiteInputs,
) {
  const { key, at } = website;
  const masters = decidingIn(groups)(website);
  const atMasters = members.filter((member) => masters.includes(nameOf(member)));
  const found = at.flatMap(({ member, known }) => {
    const inventory = members[member];
    return (inventory && foundIn(inventory).get(known)) ?? [];
  });
  return {
    cluster,
    labels,
    website,
    names,
    found,
    isDescribed: members.some(({ byAddress }) => byAddress?.has(key) === true),
    masters,
    lacking: members.filter((member) => isLacking(member, key)).map(nameOf),
    mayMastersHave: atMasters.some((member) =>
      member.byAddress === undefined ? !isWithoutAddress(key) : !isLacking(member, key),
    ),
    // This is true if a master has the website, and its details are not known now.
    isMasterSilent: atMasters.some(
      (member) =>
        member.byAddress?.has(key) === true &&
        !found.some(({ identity }) => identity.appliance === nameOf(member)),
    ),
    hasUnwatched,
    hasGroups: groups.size > 0,
  };
}

function nameOf({ identity }: InventorySnapshot): string {
  return identity.appliance;
}

const foundIn = once(
  ({ found }: InventorySnapshot) => new Map<KnownWebsite, FoundWebsite>(found.map((each) => [each, each])),
);

/** Whether an appliance is known to lack a website. All of the appliance's websites have to be known, and the address of this one. */
function isLacking({ byAddress, isComplete }: InventorySnapshot, key: string): boolean {
  return isComplete && !isWithoutAddress(key) && byAddress?.has(key) === false;
}

function websiteVerdict(
  facts: JudgedWebsite,
  results: Results,
  old: WebsiteVerdict | undefined,
  given: WebsitesCase,
): WebsiteVerdict {
  const { cluster, labels, names, website, found, lacking, masters, isMasterSilent } = facts;
  const { key, websiteId, website: name } = website;
  const tests = testsIn(facts, results);
  const ids = Object.fromEntries(tests.toReversed().map((test) => [test.appliance, test.websiteId]));
  const isSameId = names.every((each) => ids[each] === websiteId);
  const views = found.map(({ details, identity }) => {
    return { details, isMaster: masters.includes(identity.appliance) };
  });
  const isOff = views.some(({ details, isMaster }) => details.isEnabled === false && isMaster);
  const states = statesIn(tests, isOff, facts).map(({ protocol, state }) => {
    const remembered = given.memory?.get(subjectKeys.website(protocol, key));
    const before: Earlier | undefined = remembered ?? old?.states.find((each) => each.protocol === protocol);
    const sawBeginning = given.wasPolled && remembered === undefined && before?.state !== undefined;
    const sinceMs = sinceOf(before, state, sawBeginning, given.at);
    // A website that was never known is no news, since a backup is tested before the master.
    const isExplained = state === "unknown" && (sinceMs === undefined || hidesWebsites(given));
    const isNews = state !== before?.state && !isExplained;
    const shown = (isNews ? state : undefined) ?? before?.shown;
    return { protocol, state, shown, sinceMs };
  });
  const isUp = states.length > 0 && states.every(({ state }) => state === "up" || state === "unstable");
  const backends = judgeBackends(views, { isUp, isMasterSilent });
  const isDisabled = found.length > 0 && found.every(({ details }) => details.isEnabled === false);
  const latestBackends =
    facts.isDescribed && !isDisabled
      ? backendsAfter(old?.latestBackends, serversIn(given.memory, key), backends, given.at)
      : undefined;
  const judged = { found, lacking, ids: isSameId ? undefined : ids, states, backends, latestBackends };
  const named = { cluster, labels, key, websiteId, website: name, at: website.at };
  return { kind: "website", facts, results, ...named, ...judged };
}

/** Returns the latest known state of the servers. The first one of this run may have begun earlier. */
function backendsAfter(
  before: LatestBackends | undefined,
  remembered: LatestBackends | undefined,
  state: BackendState | undefined,
  { wallMs }: Case["at"],
): LatestBackends {
  const latest = remembered ?? before;
  if (latest !== undefined && (state === undefined || state === latest.state)) return latest;
  const sawBeginning = remembered === undefined && before?.state !== undefined;
  return { state, sinceMs: sawBeginning ? wallMs : undefined };
}

function testsIn({ website, masters }: JudgedWebsite, results: Results) {
  return website.at.flatMap(({ test, known: { identity, websiteId } }, nth) => {
    const { appliance } = identity;
    if (test < 0) return [];
    return [{ appliance, websiteId, results: results[nth], isMaster: masters.includes(appliance) }];
  });
}

function statesIn(
  tests: ReturnType<typeof testsIn>,
  isOff: boolean,
  facts: JudgedWebsite,
): readonly Pick<ProtocolVerdict, "protocol" | "state">[] {
  const isTested = tests.some(({ results }) => !isAwaited(results));
  // The result of a master is not unknown before the master was polled, nor while its schedule rests.
  const isPending = tests.some(({ results, isMaster }) => isMaster && isAwaited(results));
  const known = new Set(tests.flatMap(({ results = [] }) => results.map(({ protocol }) => protocol)));
  const protocols = known.size === 0 && tests.length > 0 ? ([""] as const) : [...known].toSorted();
  return protocols.map((protocol) => {
    const views = tests.flatMap(({ results = [], isMaster }): readonly MemberTest[] => {
      const own = results.find((each) => each.protocol === protocol);
      // If the appliance's answer is known, the appliance may lack the protocol.
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
