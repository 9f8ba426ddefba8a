import { groupBy } from "../support/group-by.ts";
import { anomalyCount, membersIn, type ApplianceSnapshot, type WebsiteSnapshot } from "../fleet/snapshot.ts";
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
} from "./severity.ts";
import { once } from "../support/kept.ts";
import { failedBackends, usableBackends } from "./judge-website.ts";
import { lacks } from "./websites.ts";
import { listed } from "../support/text.ts";
import { groupName, idAt, instantOf, optionalInstant, reasonInWords, statusText } from "./words.ts";

/** Unix times in milliseconds. */
export interface ProblemFacts {
  readonly nowMs: number;
  /** When the configuration could not be loaded; `undefined` if it was loaded since. */
  readonly reloadFailedAtMs: number | undefined;
}

/**
 * Everything that is wrong with these clusters, worst first: by kind, then in the order of the configuration. What follows
 * from another problem is left out: of a cluster that is dark its groups and websites, of one whose master is unknown
 * the websites that are unknown too.
 */
export function problemsOf(
  clusters: readonly ClusterVerdict[],
  { nowMs, reloadFailedAtMs }: ProblemFacts,
): readonly Problem[] {
  const problems = [
    ...clusters.flatMap(lastingProblems),
    ...clusters.flatMap(({ facts }) => facts.appliances.flatMap((each) => expiring(each, nowMs))),
    ...(reloadFailedAtMs === undefined ? [] : [notReloaded(reloadFailedAtMs)]),
    ...notPolledYet(clusters),
  ];
  return problems.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ kind }: Problem): number {
  return PROBLEM_KINDS.indexOf(kind);
}

/** A problem of a kind, with the severity of that kind. */
function problem(kind: ProblemKind, given: Omit<Problem, "kind" | "severity">): Problem {
  return { kind, severity: PROBLEMS[kind].severity, ...given };
}

/** What is wrong with a cluster for as long as its verdict stays as it is. */
export const lastingProblems = once((verdict: ClusterVerdict): readonly Problem[] => {
  const { cluster, appliances } = verdict.facts;
  const isDark =
    verdict.state === "dark" && [...verdict.appliances.values()].every(({ state }) => state !== undefined);
  const found = [
    ...(isDark ? [dark(verdict)] : appliances.flatMap((each) => unreachable(each, verdict))),
    ...(isDark ? [] : groupProblems(verdict)),
    ...(isDark ? [] : websiteProblems(verdict)),
    ...(isDark ? [] : discoveredProblems(verdict)),
    ...appliances.flatMap((each) => [...oddStates(each, appliances.length === 1), ...deviating(each)]),
  ];
  return found.map((each) => ({ ...each, cluster }));
});

function reasonOf({ vrrp: { health } }: ApplianceSnapshot): string {
  return health.failure === undefined ? "not polled yet" : reasonInWords(health.failure.reason);
}

function dark({ facts, appliances }: ClusterVerdict): Problem {
  const names = listed(facts.appliances.map(({ identity }) => identity.appliance));
  const reasons = listed([...new Set(facts.appliances.map(reasonOf))]);
  const summary =
    facts.appliances.length === 1
      ? `${names} is down: ${reasons}`
      : `No appliance of ${facts.cluster} can be reached, ${names}: ${reasons}`;
  const since = Array.from(appliances.values(), ({ sinceMs }) => sinceMs ?? Number.NaN);
  return problem("cluster_dark", { summary, since: optionalInstant(Math.max(...since)) });
}

function unreachable(snapshot: ApplianceSnapshot, { appliances }: ClusterVerdict): readonly Problem[] {
  const { appliance } = snapshot.identity;
  const { state, sinceMs } = appliances.get(appliance) ?? {};
  const kind = state && APPLIANCE_PROBLEMS[state];
  if (kind === undefined) return [];
  const verb = state === "down" ? "is down" : "is not polled successfully";
  const summary = `${appliance} ${verb}: ${reasonOf(snapshot)}`;
  return [problem(kind, { summary, appliance, since: optionalInstant(sinceMs) })];
}

/** Words in front of and behind the names of all to which they apply. */
export type Words = readonly [before: string, after: string];

/** Groups with the same problem are one problem. */
function groupProblems(verdict: ClusterVerdict): readonly Problem[] {
  const found = [...verdict.groups.values()].flatMap((group) => {
    const kind = kindOf(group, verdict);
    return kind === undefined ? [] : [{ kind, words: groupWords(group), group }];
  });
  const alike = groupBy(found, ({ kind, words }) => JSON.stringify([kind, words]));
  return [...alike.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const groups = all.map(({ group }) => group);
    const names = groups.map(({ facts }) => groupName(facts));
    const { vhid, vip } = first.group.facts;
    const summary = first.words.join(listed(names, NAMED_GROUPS));
    return [problem(first.kind, { summary, group: { vhid, vip }, since: optionalInstant(earliest(groups)) })];
  });
}

const NAMED_GROUPS = 12;

function kindOf({ facts, state }: GroupVerdict, { appliances }: ClusterVerdict): ProblemKind | undefined {
  if (state === "one_master" && facts.isPreferredMaster === false) return "preferred_master_lost";
  const silent = membersIn(facts, "unknown");
  const isPending = silent.every((name) => appliances.get(name)?.state === undefined);
  // What follows from an appliance that was not polled yet is no problem.
  if ((state === "unknown" || state === "backup_unknown") && isPending) return undefined;
  return state && GROUP_PROBLEMS[state];
}

/** What is true of a group in trouble. */
export function groupWords({ facts, state, master = "" }: GroupVerdict): Words {
  const silent = listed(membersIn(facts, "unknown"));
  switch (state) {
    case "split_brain":
      return [`Split brain: ${listed(membersIn(facts, "master"))} are MASTER of `, ""];
    case "no_master":
      return ["No appliance is MASTER of ", ""];
    case "unknown": {
      const [other] = membersIn(facts, "master");
      return other === undefined
        ? ["The master of ", ` is unknown: ${silent} cannot be polled`]
        : [`Split brain: ${silent} cannot be polled and may still be MASTER beside ${other} of `, ""];
    }
    case "no_backup":
      return [`${master} is MASTER of `, ", and no appliance is BACKUP"];
    case "backup_unknown":
      return [`${master} is MASTER of `, `, and ${silent} cannot be polled`];
    case "changing":
      return ["The master is changing of ", ""];
    case "one_master":
    case undefined:
      return [`${master} is MASTER of `, ", and is not the preferred member"];
    default:
      return state satisfies never;
  }
}

const WORST_FIRST = ["down", "down_at_master", "unknown", "partially_down"] as const;

/** One problem for each website: the worst one, over its protocols. */
function websiteProblems(verdict: ClusterVerdict): readonly Problem[] {
  return [...verdict.websites.values()].flatMap((website) => {
    const { websiteId: id, website: name, states } = website;
    const state = WORST_FIRST.find((worst) => states.some((each) => each.state === worst));
    if (state === undefined || (state === "unknown" && hidesWebsites(verdict))) return [];
    const found = states.filter((each) => each.state === state);
    const words = state === "unknown" ? "not known to be up" : state.replaceAll("_", " ");
    const protocols = new Set<string>(found.map(({ protocol }) => protocol));
    const summary = `Website ${name} is ${words}: ${findings(verdict, website, protocols)}`;
    const since = optionalInstant(earliest(found));
    return [problem(WEBSITE_PROBLEMS[state], { summary, website: { id, name }, since })];
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
    const words = member.websites
      .filter((website) => website.websiteId === id)
      .flatMap((website) => findingsOf(website, protocols));
    return (id === undefined && lacks(member, key) ? [MISSING] : words).map((each) => ({
      words: each,
      appliance,
    }));
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

const NAMED_WEBSITES = 12;

/** What is wrong with the websites that appliances list. */
function discoveredProblems({ facts, websites, appliances }: ClusterVerdict): readonly Problem[] {
  const names = [...websites.values()]
    .filter(({ differences }) => differences.length > 0)
    .map(({ website, differences }) => `${website} (${differences.map(({ words }) => words).join("; ")})`);
  const differing = `The members of ${facts.cluster} differ in ${listed(names, NAMED_WEBSITES)}`;
  return [
    ...[...websites.values()].flatMap(backendProblem),
    ...(names.length === 0 ? [] : [problem("websites_differ", { summary: differing })]),
    ...facts.appliances.flatMap((each) => unlisted(each, appliances)),
    ...facts.appliances.flatMap(({ identity: { appliance }, discovery }) => {
      const left = discovery?.beyondLimit ?? 0;
      const what = left === 1 ? "One website" : `${left} websites`;
      const summary = `${what} of ${appliance} beyond the limit of website_discovery: not tested`;
      return left === 0 ? [] : [problem("websites_left_out", { summary, appliance })];
    }),
  ];
}

/** Of an appliance that can be polled. */
function unlisted(
  { identity: { appliance }, discovery }: ApplianceSnapshot,
  appliances: ClusterVerdict["appliances"],
): readonly Problem[] {
  if (discovery === undefined || appliances.get(appliance)?.state !== "up") return [];
  const { list, details } = discovery;
  if (list.failure !== undefined) {
    // Older firmware has no list.
    if (list.failure.reason === "unsupported") return [];
    const summary = `The websites of ${appliance} cannot be listed: ${reasonInWords(list.failure.reason)}`;
    return [problem("websites_not_listed", { summary, appliance })];
  }
  // Older firmware has no details, and a website that was deleted meanwhile is gone with the next list.
  if (details?.failure === undefined || details.failure.reason === "unsupported") return [];
  const isListedSince = (list.lastSuccessAtMs ?? 0) > (details.failingSinceMs ?? 0);
  if (details.failure.status === 404 && !isListedSince) return [];
  const summary = `Details of websites of ${appliance} are not known: ${reasonInWords(details.failure.reason)}`;
  return [problem("websites_not_listed", { summary, appliance })];
}

function backendProblem({
  websiteId: id,
  website: name,
  backends,
  found,
}: WebsiteVerdict): readonly Problem[] {
  const kind = backends && BACKEND_PROBLEMS[backends];
  if (kind === undefined) return [];
  const isLost = backends !== "some_down";
  const said = found.flatMap(({ identity: { appliance }, details }) => {
    const failed = failedBackends(details);
    if (failed.length > 0) return [`${listed(failed, NAMED_WEBSITES)} at ${appliance}`];
    return isLost && usableBackends(details) === 0 ? [`none in service at ${appliance}`] : [];
  });
  const summary = isLost
    ? `No server behind website ${name} is usable: ${said.join(", ")}`
    : `Servers behind website ${name} are down: ${said.join(", ")}`;
  return [problem(kind, { summary, website: { id, name } })];
}

/** Interfaces in a state that is neither MASTER nor BACKUP; worse where no other appliance can take over. */
function oddStates({ identity, vrrp }: ApplianceSnapshot, isAlone: boolean): readonly Problem[] {
  const odd = (vrrp.list?.interfaces ?? []).filter(
    ({ reported: { state } }) => state !== "MASTER" && state !== "BACKUP",
  );
  const [first] = odd;
  if (first === undefined) return [];
  const states = listed(
    odd.map(({ reported }) => `${reported.state} on ${reported.name} for ${groupName(reported)}`),
    NAMED_GROUPS,
  );
  return [
    problem(isAlone ? "not_serving" : "odd_state", {
      summary: `${identity.appliance} reports ${states}`,
      appliance: identity.appliance,
      group: { vhid: first.reported.vhid, vip: first.reported.vip },
      since: optionalInstant(first.lastTransitionAtMs),
    }),
  ];
}

const CERTIFICATE_NOTICE_MS = 14 * 24 * 3_600_000;

/** Until its end: from then on either polls fail for it, or it is pinned and nothing is wrong. */
function expiring({ identity, vrrp }: ApplianceSnapshot, nowMs: number): readonly Problem[] {
  const endsMs = (vrrp.certificate?.notAfterSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  if (endsMs <= nowMs || endsMs - nowMs > CERTIFICATE_NOTICE_MS) return [];
  const { appliance, cluster } = identity;
  const summary = `The certificate of ${appliance} expires on ${instantOf(endsMs).slice(0, 10)}`;
  return [problem("certificate_expires", { summary, appliance, cluster })];
}

function deviating({ identity: { appliance }, anomalies }: ApplianceSnapshot): readonly Problem[] {
  const count = anomalyCount(anomalies.counts);
  if (count === 0) return [];
  const places = count === 1 ? "one place" : `${count} places`;
  const summary = `The answers of ${appliance} deviate from the API in ${places}`;
  return [problem("api_anomalies", { summary, appliance })];
}

function notReloaded(failedAtMs: number): Problem {
  const summary = "The configuration could not be reloaded; the previous one is in use";
  return problem("reload_failed", { summary, since: instantOf(failedAtMs) });
}

function notPolledYet(clusters: readonly ClusterVerdict[]): readonly Problem[] {
  const pending = clusters.flatMap(pendingIn);
  const [first] = pending;
  if (first === undefined) return [];
  const who = pending.length === 1 ? first : `${pending.length} appliances`;
  return [problem("not_polled_yet", { summary: `Not everything of ${who} was polled yet` })];
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
  return Math.min(...verdicts.map(({ sinceMs }) => sinceMs ?? Number.NaN));
}
