import type { ApplianceSnapshot, WebsiteSnapshot } from "../fleet/snapshot.ts";
import { groupBy } from "../../support/group-by.ts";
import { once } from "../../support/kept.ts";
import { listed, wording, wordsFor, type CountedWords, type Words } from "../../support/text.ts";
import { failingBackendsAt, isPartOf, partiallyDownAt, protocolProblem } from "./judge-website.ts";
import { earliest, problem, type Problem, type Unadvised } from "./problem.ts";
import { PROBLEM_OF, type WebsiteState } from "./states.ts";
import { subjectKeys, websiteKeys } from "./subjects.ts";
import { hidesWebsites, type ClusterVerdict, type ProtocolVerdict, type WebsiteVerdict } from "./verdict.ts";
import { FEW, idAt, optionalInstant, reasonInWords, statusText } from "./words.ts";

const WORST_FIRST = ["down", "down_at_master", "unknown", "partially_down", "unstable"] as const;

/** A website is one of many that are down from this number on, if they are more than half of the cluster's. */
const MANY = 3;

export function isDown({ kind }: Pick<Problem, "kind">): boolean {
  return kind === "website_down" || kind === "website_unknown";
}

/** Returns one problem for each website, and one for most websites of the cluster if they are down together. */
export function websiteProblems(verdict: ClusterVerdict): readonly Unadvised[] {
  const all = eachWebsite(verdict);
  const down = all.filter(isDown);
  const tested = [...verdict.websites.values()].filter(({ states }) => states.length > 0).length;
  const isMost = down.length >= MANY && down.length * 2 > tested;
  if (!isMost) return all;
  const names = down.flatMap(({ website }) => website?.name ?? []);
  const kinds = new Set(down.map(({ kind }) => kind));
  const areKnown = kinds.has("website_down");
  const areDown = !areKnown
    ? "are not known to be up"
    : kinds.size === 1
      ? "are down"
      : "are down, or not known to be up";
  const summary = `${down.length} of ${tested} websites ${areDown}${sharedResult(down, verdict)}: ${listed(names, FEW)}`;
  const keys = down.flatMap((each) => each.keys ?? []);
  const since = down.every((each) => each.since !== undefined)
    ? down.flatMap((each) => each.since ?? []).toSorted()[0]
    : undefined;
  return [...problem(areKnown ? "websites_down" : "websites_unknown", summary, { keys, since }), ...all];
}

/** Returns `, 503 from a, MASTER, and b` if that is the result of each of these websites. */
function sharedResult(down: readonly Unadvised[], verdict: ClusterVerdict): string {
  const subjects = new Set(down.map(({ subject }) => subject));
  const [first, ...others] = [...verdict.websites.values()].filter(({ key }) => subjects.has(key));
  const wordsOf = (website: WebsiteVerdict): string => resultWords(verdict, website, website.states);
  const words = first === undefined ? "" : wordsOf(first);
  return others.every((website) => wordsOf(website) === words) ? `, ${words}` : "";
}

/** Returns one problem for each website: the worst one, over its protocols. */
function eachWebsite(verdict: ClusterVerdict): readonly Unadvised[] {
  return [...verdict.websites.values()].flatMap((website) => {
    const { websiteId: id, website: name, states } = website;
    const state = WORST_FIRST.find(
      (worst) => states.some((each) => each.state === worst) && !isConsequence(worst, website, verdict),
    );
    const kind = protocolProblem(state, states);
    if (state === undefined || kind === undefined) return [];
    const found = states.filter((each) => each.state === state);
    const said = kind === "website_partially_unknown" ? partiallyUnknown(found) : WORDS[state];
    const results =
      state === "unstable" ? unstableAt(website, verdict) : resultWords(verdict, website, found);
    const summary = `${titleOf(name)} ${said}: ${results}`;
    const keys = found.map(({ protocol }) => subjectKeys.website(protocol, website.key));
    const concerned = { website: { id, name }, subject: website.key, keys, since: earliest(found) };
    return problem(kind, summary, concerned);
  });
}

/** Whether another problem says enough of this state of a website, so that a state of its other protocol is told. */
function isConsequence(state: WebsiteState, website: WebsiteVerdict, verdict: ClusterVerdict): boolean {
  if (state === "unknown") return hidesWebsites(verdict);
  return state === "partially_down" && isInReadiness(verdict, website, "website_down");
}

const WORDS: Readonly<Record<(typeof WORST_FIRST)[number], string>> = {
  down: "is down",
  down_at_master: "is down for visitors",
  unknown: "is not known to be up",
  partially_down: "is up for visitors, but not at each member",
  unstable: "comes and goes",
};

/** A website without a name is called by its id. */
function titleOf(name: string): string {
  return /^\d+$/.test(name) ? `website ${name}` : name;
}

function unstableAt({ at, results }: WebsiteVerdict, { groups }: ClusterVerdict): string {
  const names = at.flatMap(({ known }, nth) =>
    results[nth]?.some(({ isUnstable }) => isUnstable) === true ? known.identity.appliance : [],
  );
  return `some tests from ${withRoles(names, mastersIn(groups))} fail`.replace(/(MASTER) fail$/, "$1, fail");
}

const mastersIn = once(
  (groups: ClusterVerdict["groups"]): ReadonlySet<string> =>
    new Set([...groups.values()].flatMap((group) => group.masters)),
);

function partiallyUnknown(unknown: readonly ProtocolVerdict[]): string {
  return `is up, and not known to be up by ${listed(unknown.map(({ protocol }) => protocol))}`;
}

/**
 * Returns what the members find by these protocols: `503 from a, MASTER. b finds it up`. The protocol is named where the website has two, and
 * a member that has the website up only where others do not.
 */
function resultWords(
  { facts, appliances, groups }: ClusterVerdict,
  website: WebsiteVerdict,
  of: readonly ProtocolVerdict[],
): string {
  const { lacking, websiteId, ids, states } = website;
  const protocols = new Set<string>(of.map(({ protocol }) => protocol));
  const isNamed = states.length > 1;
  const found = facts.appliances.flatMap((member) => {
    const { appliance } = member.identity;
    const id = idAt({ id: websiteId, ids }, appliance);
    const tests = (id === undefined ? undefined : testsById(member.websites).get(id)) ?? [];
    const isMissing = id === undefined && lacking.includes(appliance);
    const isUp = appliances.get(appliance)?.state === "up";
    const all = isMissing
      ? [wording(["missing at ", ""])]
      : tests.flatMap((each) => testWords(each, { protocols, isUp, isNamed }));
    return all.map((said) => ({ said, appliance }));
  });
  const masters = mastersIn(groups);
  const same = groupBy(found, ({ said }) => said.one.join("\n"));
  const clauses = Array.from(same.values(), (all) => {
    const names = withRoles(
      all.map(({ appliance }) => appliance),
      masters,
    );
    const [before, after] = wordsFor(all[0]?.said ?? wording(["", ""]), all.length);
    const isUp = before === "";
    const comma = isUp && names.endsWith("MASTER") ? "," : "";
    return { isUp, words: `${before}${names}${comma}${after}` };
  });
  const [bad, good] = [clauses.filter(({ isUp }) => !isUp), clauses.filter(({ isUp }) => isUp)];
  const told = [bad, good].map((all) => all.map(({ words }) => words).join("; "));
  return told.filter(Boolean).join(". ");
}

/** An appliance may have a thousand websites that are down, and each sentence looks for the tests of one. */
const testsById = once((websites: ApplianceSnapshot["websites"]) =>
  groupBy(websites, ({ websiteId }) => websiteId),
);

/** Returns names, masters first: `a, MASTER, and b`. */
function withRoles(names: readonly string[], masters: ReadonlySet<string>): string {
  const [first, others] = [
    names.filter((name) => masters.has(name)),
    names.filter((name) => !masters.has(name)),
  ];
  if (first.length === 0) return listed(others, FEW);
  const role = first.length > 1 ? "each MASTER" : "MASTER";
  const all = `${listed(first, FEW)}, ${role}`;
  const [only, ...more] = others;
  if (only === undefined) return all;
  return more.length === 0 ? `${all}, and ${only}` : `${all}, ${listed(others, FEW - 1)}`;
}

interface TestedBy {
  readonly protocols: ReadonlySet<string>;
  /** Whether the appliance answers now. */
  readonly isUp: boolean;
  /** Whether the protocol is named. */
  readonly isNamed: boolean;
}

function testWords(
  { health, found }: WebsiteSnapshot,
  { protocols, isUp, isNamed }: TestedBy,
): readonly CountedWords[] {
  if (health.failure !== undefined) {
    const { reason } = health.failure;
    if (reason === "timeout" && isUp) return [wording(["no answer in time from ", ""])];
    const said = (isPlural: boolean): Words => [
      "no result from ",
      `: ${reasonInWords(reason, { isUp, isPlural })}`,
    ];
    return [wording(said(false), said(true))];
  }
  const { statuses = [], uncertain = [] } = found ?? {};
  // A website of which no test ever had a status has no protocol yet.
  const isWanted = ({ protocol }: { readonly protocol: string }): boolean =>
    protocols.has(protocol) || protocols.has("");
  const prefix = (protocol: string): string => (isNamed ? `${protocol} ` : "");
  const all = [
    ...statuses.filter(isWanted).map(({ protocol, status, isUp: isGood, text }) => {
      if (isGood && !isNamed) return wording(["", " finds it up"], ["", " find it up"]);
      return wording([`${prefix(protocol)}${statusText(status, text)} from `, ""]);
    }),
    ...uncertain
      .filter(isWanted)
      .map(({ protocol, text }) => wording([`${prefix(protocol)}${statusText(undefined, text)} from `, ""])),
  ];
  return all.length === 0 ? [wording(["no status from ", ""])] : all;
}

/** Returns the losses of visitors by the readiness without an outage, by the key of the website or group, and whether there are more. */
export const lostWebsites = once(({ readiness }: ClusterVerdict) => {
  const all = [...readiness.values()].filter(({ state }) => state === "losses");
  const lost = all.flatMap(({ risks }) => risks.filter(({ effect }) => effect === "loss"));
  return {
    risks: groupBy(lost, ({ key }) => key),
    hasMore: all.some(({ more }) => more?.worst.effect === "loss"),
  };
});

/** Whether the problem about readiness already reports the trouble of a website at each member that has it. */
function isInReadiness(
  verdict: ClusterVerdict,
  website: WebsiteVerdict,
  kind: "website_down" | "website_backends_lost",
): boolean {
  const { risks, hasMore } = lostWebsites(verdict);
  const told = risks.get(website.key)?.filter(({ risk }) => risk === kind) ?? [];
  const names = kind === "website_down" ? partiallyDownAt(website) : failingBackendsAt(website);
  const isTold = (name: string): boolean => told.some(({ successor }) => successor === name);
  return hasMore || (told.length > 0 && names.every(isTold));
}

/** Returns a problem for websites that are not the same for visitors at each member, if nobody knows which member would take over. */
export function unequalProblem({
  facts: { cluster, appliances },
  websites,
  readiness,
}: ClusterVerdict): readonly Unadvised[] {
  const isComparable = appliances.length > 1 && appliances.every(({ inventory }) => inventory.isListed);
  if (readiness.size > 0 || !isComparable) return [];
  const unequal = [...websites.values()].flatMap((website) => {
    const words = website.found.length === 0 ? [] : inequalities(website);
    return words.length === 0
      ? []
      : [{ website, words: `${titleOf(website.website)} (${words.join("; ")})` }];
  });
  if (unequal.length === 0) return [];
  const words = unequal.map((each) => each.words);
  const keys = unequal.flatMap(({ website }) => websiteKeys(website));
  return problem("websites_unequal", `The members of ${cluster} differ in ${listed(words, FEW)}`, { keys });
}

function inequalities({ found, lacking }: WebsiteVerdict): readonly string[] {
  const settings = [
    found.map(({ identity, details: { isEnabled } }) => {
      return [isEnabled === undefined ? undefined : isEnabled ? "enabled" : "disabled", identity] as const;
    }),
    found.map(({ identity, details: { mode } }) => [mode, identity] as const),
  ];
  const differing = settings.flatMap((each) => {
    const known = each.filter(([word]) => word !== undefined);
    const isEqual = new Set(known.map(([word]) => word)).size < 2;
    return isEqual ? [] : known.map(([word, { appliance }]) => `${word} at ${appliance}`).join(", ");
  });
  return [...(lacking.length === 0 ? [] : [`missing at ${listed(lacking, FEW)}`]), ...differing];
}

export function backendProblems(verdict: ClusterVerdict): readonly Unadvised[] {
  return [...verdict.websites.values()].flatMap((website) =>
    website.backends === "some_down" && isInReadiness(verdict, website, "website_backends_lost")
      ? []
      : backendProblem(website),
  );
}

function backendProblem(verdict: WebsiteVerdict): readonly Unadvised[] {
  const { websiteId: id, website: name, backends, found } = verdict;
  const kind = backends && PROBLEM_OF.backends[backends];
  if (kind === undefined) return [];
  const isLost = backends !== "some_down";
  const reports = found.flatMap(({ identity: { appliance }, details }) => {
    if (!isPartOf(backends, details)) return [];
    const { shown = [], failed = 0 } = details.backends ?? {};
    const names = shown.slice(0, failed).map(({ address }) => address);
    return [failed > 0 ? `${listed(names, FEW, failed)} at ${appliance}` : `none in service at ${appliance}`];
  });
  const summary = isLost
    ? `No server behind ${titleOf(name)} is usable: ${reports.join(", ")}`
    : `Servers behind ${titleOf(name)} are down: ${reports.join(", ")}`;
  const since = optionalInstant(verdict.latestBackends?.sinceMs);
  const concerned = { website: { id, name }, subject: verdict.key, keys: websiteKeys(verdict), since };
  return problem(kind, summary, concerned);
}
