import { groupBy } from "../support/group-by.ts";
import { anomalyCount, type ApplianceSnapshot, type WebsiteSnapshot } from "../fleet/snapshot.ts";
import { hidesWebsites, type ClusterVerdict, type GroupVerdict, type WebsiteVerdict } from "./verdict.ts";
import type { Problem } from "./schema.ts";
import {
  APPLIANCE_PROBLEMS,
  BACKEND_PROBLEMS,
  GROUP_PROBLEMS,
  PROBLEM_KINDS,
  PROBLEMS,
  WEBSITE_PROBLEMS,
  type ProblemKind,
} from "./states.ts";
import { once } from "../support/kept.ts";
import { usableBackends } from "./judge-website.ts";
import { lacks } from "./websites.ts";
import { listed } from "../support/text.ts";
import {
  groupName,
  groupWords,
  idAt,
  instantOf,
  NAMED,
  optionalInstant,
  reasonInWords,
  shortened,
  statusText,
  type Words,
} from "./words.ts";

/** Unix times in milliseconds. */
export interface ProblemFacts {
  readonly nowMs: number;
  /** When the configuration could not be loaded; `undefined` if it was loaded since. */
  readonly reloadFailedAtMs: number | undefined;
}

const NOT_RELOADED = "The configuration could not be reloaded; the previous one is in use";

/**
 * Everything that is wrong, worst first: by kind, then in the order of the configuration. What follows from another problem is
 * left out: of a cluster that is dark its groups and websites, of one whose master is unknown the websites that are unknown too.
 */
export function problemsOf(clusters: readonly ClusterVerdict[], facts: ProblemFacts): readonly Problem[] {
  const { nowMs, reloadFailedAtMs: sinceMs } = facts;
  const problems = [
    ...clusters.flatMap(lastingProblems),
    ...clusters.flatMap((cluster) => cluster.facts.appliances.flatMap((each) => expiring(each, nowMs))),
    ...(sinceMs === undefined ? [] : problem("reload_failed", NOT_RELOADED, { sinceMs })),
    ...notPolledYet(clusters),
  ];
  return problems.toSorted((a, b) => PROBLEM_KINDS.indexOf(a.kind) - PROBLEM_KINDS.indexOf(b.kind));
}

type Concerned = Omit<Problem, "kind" | "severity" | "summary" | "since"> & {
  readonly sinceMs?: number | undefined;
};

/** A list of one problem. */
function problem(kind: ProblemKind, summary: string, concerned: Concerned = {}): readonly Problem[] {
  const { sinceMs, ...rest } = concerned;
  const { severity } = PROBLEMS[kind];
  return [{ kind, severity, summary: shortened(summary), ...rest, since: optionalInstant(sinceMs) }];
}

/** What is wrong with a cluster for as long as its verdict stays as it is. */
export const lastingProblems = once((verdict: ClusterVerdict): readonly Problem[] => {
  const { cluster, appliances } = verdict.facts;
  const isDark =
    verdict.state === "dark" && [...verdict.appliances.values()].every(({ state }) => state !== undefined);
  const problems = [
    ...(isDark ? dark(verdict) : appliances.flatMap((each) => unreachable(each, verdict))),
    ...(isDark ? [] : [groupProblems, websiteProblems, discoveredProblems].flatMap((of) => of(verdict))),
    ...appliances.flatMap((each) => [...oddStates(each, appliances.length === 1), ...deviating(each)]),
  ];
  return problems.map((each) => ({ ...each, cluster }));
});

function reasonOf({ vrrp: { health } }: ApplianceSnapshot): string {
  return health.failure === undefined ? "not polled yet" : reasonInWords(health.failure.reason);
}

function dark({ facts, appliances }: ClusterVerdict): readonly Problem[] {
  const names = listed(facts.appliances.map(({ identity }) => identity.appliance));
  const reasons = listed([...new Set(facts.appliances.map(reasonOf))]);
  const summary =
    facts.appliances.length === 1
      ? `${names} is down: ${reasons}`
      : `No appliance of ${facts.cluster} can be reached, ${names}: ${reasons}`;
  const sinceMs = [...appliances.values()].reduce((ms, each) => Math.max(ms, each.sinceMs ?? Number.NaN), 0);
  return problem("cluster_dark", summary, { sinceMs });
}

function unreachable(snapshot: ApplianceSnapshot, { appliances }: ClusterVerdict): readonly Problem[] {
  const { appliance } = snapshot.identity;
  const { state, sinceMs } = appliances.get(appliance) ?? {};
  const kind = state && APPLIANCE_PROBLEMS[state];
  if (kind === undefined) return [];
  const verb = state === "down" ? "is down" : "is not polled successfully";
  return problem(kind, `${appliance} ${verb}: ${reasonOf(snapshot)}`, { appliance, sinceMs });
}

/** Groups with the same problem are one problem. */
function groupProblems(verdict: ClusterVerdict): readonly Problem[] {
  const found = [...verdict.groups.values()].flatMap((group) => {
    const kind = kindOf(group);
    return kind === undefined ? [] : [{ kind, words: groupWords(group), group }];
  });
  const alike = groupBy(found, ({ kind, words }) => JSON.stringify([kind, words]));
  return [...alike.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { vhid, vip } = first.group.facts;
    const names = all.map(({ group }) => groupName(group.facts));
    const sinceMs = earliest(all.map(({ group }) => group));
    return problem(first.kind, first.words.join(listed(names, NAMED)), { group: { vhid, vip }, sinceMs });
  });
}

function kindOf({ facts, state }: GroupVerdict): ProblemKind | undefined {
  if (state === "one_master" && facts.isPreferredMaster === false) return "preferred_master_lost";
  return state && GROUP_PROBLEMS[state];
}

const WORST_FIRST = ["down", "down_at_master", "unknown", "partially_down", "unstable"] as const;
const WORDS: Readonly<Record<string, string>> = {
  unknown: "not known to be up",
  unstable: "up, but some tests fail",
};

/** One problem for each website: the worst one, over its protocols. */
function websiteProblems(verdict: ClusterVerdict): readonly Problem[] {
  return [...verdict.websites.values()].flatMap((website) => {
    const { websiteId: id, website: name, states } = website;
    const state = WORST_FIRST.find((worst) => states.some((each) => each.state === worst));
    if (state === undefined || (state === "unknown" && hidesWebsites(verdict))) return [];
    const found = states.filter((each) => each.state === state);
    const protocols = new Set<string>(found.map(({ protocol }) => protocol));
    const summary = `Website ${name} is ${WORDS[state] ?? state.replaceAll("_", " ")}: ${findings(verdict, website, protocols)}`;
    return problem(WEBSITE_PROBLEMS[state], summary, { website: { id, name }, sinceMs: earliest(found) });
  });
}

/** `https 503 from a and b, missing at c, no result from d: it does not answer in time (timeout)`. */
function findings(
  { facts }: ClusterVerdict,
  { key, websiteId, ids }: WebsiteVerdict,
  protocols: ReadonlySet<string>,
): string {
  const found = facts.appliances.flatMap((member) => {
    const { appliance } = member.identity;
    const id = idAt({ id: websiteId, ids }, appliance);
    const tests = member.websites.filter((website) => website.websiteId === id);
    const isMissing = id === undefined && lacks(member, key);
    const all = isMissing ? [MISSING] : tests.flatMap((each) => findingsOf(each, protocols));
    return all.map((words) => ({ words, appliance }));
  });
  const alike = groupBy(found, ({ words }) => words.join("\n"));
  return Array.from(alike.values(), (all) =>
    all[0]?.words.join(listed(all.map(({ appliance }) => appliance))),
  ).join(", ");
}

const MISSING: Words = ["missing at ", ""];

function findingsOf({ health, found }: WebsiteSnapshot, protocols: ReadonlySet<string>): readonly Words[] {
  if (health.failure !== undefined) return [["no result from ", `: ${reasonInWords(health.failure.reason)}`]];
  const statuses = (found?.statuses ?? []).filter(({ protocol }) => protocols.has(protocol));
  if (statuses.length === 0) return [["no status from ", ""]];
  return statuses.map(({ protocol, status, text }) => [`${protocol} ${statusText(status, text)} from `, ""]);
}

/** What is wrong with the websites that appliances list. */
function discoveredProblems(verdict: ClusterVerdict): readonly Problem[] {
  const { facts, websites } = verdict;
  const names = [...websites.values()]
    .filter(({ differences }) => differences.length > 0)
    .map(({ website, differences }) => `${website} (${differences.map(({ words }) => words).join("; ")})`);
  const differing = `The members of ${facts.cluster} differ in ${listed(names, NAMED)}`;
  return [
    ...[...websites.values()].flatMap(backendProblem),
    ...(names.length === 0 ? [] : problem("websites_differ", differing)),
    ...facts.appliances.flatMap((each) => unlisted(each, verdict)),
    ...facts.appliances.flatMap(leftOut),
  ];
}

function leftOut({ identity: { appliance }, discovery }: ApplianceSnapshot): readonly Problem[] {
  const { beyondLimit = 0, backendsLeftOut = 0 } = discovery ?? {};
  const websites = beyondLimit === 1 ? "One website" : `${beyondLimit} websites`;
  const servers = backendsLeftOut === 1 ? "One server" : `${backendsLeftOut} servers`;
  const untested = `${websites} of ${appliance} beyond the limit of website_discovery: not tested`;
  const uncounted = `${servers} behind websites of ${appliance} beyond 32 of a website or 2,000 in all: only counted`;
  return [
    ...(beyondLimit === 0 ? [] : problem("websites_left_out", untested, { appliance })),
    ...(backendsLeftOut === 0 ? [] : problem("backends_left_out", uncounted, { appliance })),
  ];
}

function unlisted(
  { identity, discovery }: ApplianceSnapshot,
  { appliances }: ClusterVerdict,
): readonly Problem[] {
  const { appliance } = identity;
  if (discovery === undefined || appliances.get(appliance)?.state !== "up") return [];
  const { list, details } = discovery;
  const failure = list.failure ?? details?.failure;
  // Older firmware has neither list nor details.
  if (failure === undefined || failure.reason === "unsupported") return [];
  // A website that was deleted meanwhile is gone with the next list.
  const isListedSince = (list.lastSuccessAtMs ?? 0) > (details?.failingSinceMs ?? 0);
  if (list.failure === undefined && failure.isGone === true && !isListedSince) return [];
  const what =
    list.failure === undefined
      ? `Details of websites of ${appliance} are not known`
      : `The websites of ${appliance} cannot be listed`;
  return problem("websites_not_listed", `${what}: ${reasonInWords(failure.reason)}`, { appliance });
}

function backendProblem(verdict: WebsiteVerdict): readonly Problem[] {
  const { websiteId: id, website: name, backends, found } = verdict;
  const kind = backends && BACKEND_PROBLEMS[backends];
  if (kind === undefined) return [];
  const isLost = backends !== "some_down";
  const said = found.flatMap(({ identity: { appliance }, details }) => {
    const { shown = [], failed = 0 } = details.backends ?? {};
    const names = shown.slice(0, failed).map(({ address }) => address);
    if (failed > 0) return [`${listed(names, NAMED, failed)} at ${appliance}`];
    return isLost && usableBackends(details) === 0 ? [`none in service at ${appliance}`] : [];
  });
  const summary = isLost
    ? `No server behind website ${name} is usable: ${said.join(", ")}`
    : `Servers behind website ${name} are down: ${said.join(", ")}`;
  return problem(kind, summary, { website: { id, name } });
}

/** Interfaces in a state that is neither MASTER nor BACKUP; worse where no other appliance can take over. */
function oddStates({ identity, vrrp }: ApplianceSnapshot, isAlone: boolean): readonly Problem[] {
  const interfaces = vrrp.list?.interfaces ?? [];
  const odd = interfaces.filter(({ reported: { state } }) => state !== "MASTER" && state !== "BACKUP");
  const [first] = odd;
  if (first === undefined) return [];
  const { vhid, vip } = first.reported;
  const states = odd.map(({ reported: one }) => `${one.state} on ${one.name} for ${groupName(one)}`);
  const { appliance } = identity;
  const concerned = { appliance, group: { vhid, vip }, sinceMs: first.lastTransitionAtMs };
  return problem(
    isAlone ? "not_serving" : "odd_state",
    `${appliance} reports ${listed(states, NAMED)}`,
    concerned,
  );
}

const CERTIFICATE_NOTICE_MS = 14 * 24 * 3_600_000;

/** Until its end: from then on either polls fail for it, or it is pinned and nothing is wrong. */
function expiring({ identity, vrrp }: ApplianceSnapshot, nowMs: number): readonly Problem[] {
  const endsMs = (vrrp.certificate?.notAfterSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  if (endsMs <= nowMs || endsMs - nowMs > CERTIFICATE_NOTICE_MS) return [];
  const { appliance, cluster } = identity;
  const summary = `The certificate of ${appliance} expires on ${instantOf(endsMs).slice(0, 10)}`;
  return problem("certificate_expires", summary, { appliance, cluster });
}

function deviating({ identity: { appliance }, anomalies }: ApplianceSnapshot): readonly Problem[] {
  const count = anomalyCount(anomalies.counts);
  if (count === 0) return [];
  const places = count === 1 ? "one place" : `${count} places`;
  return problem("api_anomalies", `The answers of ${appliance} deviate from the API in ${places}`, {
    appliance,
  });
}

function notPolledYet(clusters: readonly ClusterVerdict[]): readonly Problem[] {
  const pending = clusters.flatMap(pendingIn);
  const [first] = pending;
  if (first === undefined) return [];
  const who = pending.length === 1 ? first : `${pending.length} appliances`;
  return problem("not_polled_yet", `Not everything of ${who} was polled yet`);
}

/** Names of the appliances of which something was never polled. */
const pendingIn = once(({ facts }: ClusterVerdict): readonly string[] =>
  facts.appliances
    .filter(
      ({ vrrp, websites, discovery }) =>
        [vrrp, ...websites].some(({ health }) => health.state === "never_polled") ||
        discovery?.isPolled === false,
    )
    .map(({ identity }) => identity.appliance),
);

/** No number where one of them is not known: it may be earlier. */
function earliest(verdicts: readonly { readonly sinceMs: number | undefined }[]): number {
  return verdicts.reduce((ms, { sinceMs = Number.NaN }) => Math.min(ms, sinceMs), Number.POSITIVE_INFINITY);
}
