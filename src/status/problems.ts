import { membersIn, type ApplianceSnapshot, type WebsiteSnapshot } from "../fleet/snapshot.ts";
import {
  hidesWebsites,
  type ApplianceVerdict,
  type ClusterVerdict,
  type GroupVerdict,
  type WebsiteVerdict,
} from "./judge.ts";
import type { Problem } from "./schema.ts";
import {
  APPLIANCE_PROBLEMS,
  GROUP_PROBLEMS,
  PROBLEM_KINDS,
  PROBLEMS,
  WEBSITE_PROBLEMS,
  type ProblemKind,
} from "./severity.ts";
import { groupName, instantOf, listed, optionalInstant, reasonInWords, statusText } from "./words.ts";

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
    ...clusters.flatMap((cluster) => clusterProblems(cluster, nowMs)),
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

function clusterProblems(verdict: ClusterVerdict, nowMs: number): readonly Problem[] {
  const { cluster, appliances } = verdict.facts;
  const isDark = verdict.state === "dark" && verdict.appliances.every(({ state }) => state !== undefined);
  const found = [
    ...(isDark ? [dark(verdict)] : verdict.appliances.flatMap((each) => unreachable(each, verdict))),
    ...(isDark ? [] : groupProblems(verdict)),
    ...(isDark ? [] : websiteProblems(verdict)),
    ...appliances.flatMap((each) => oddStates(each, appliances.length === 1)),
    ...appliances.flatMap((each) => [...expiring(each, nowMs), ...deviating(each)]),
  ];
  return found.map((each) => ({ ...each, cluster }));
}

function reasonOf({ facts }: ClusterVerdict, name: string): string {
  const health = facts.appliances.find(({ identity }) => identity.appliance === name)?.vrrp.health;
  return health?.failure === undefined ? "not polled yet" : reasonInWords(health.failure.reason);
}

function dark(verdict: ClusterVerdict): Problem {
  const { appliances, facts } = verdict;
  const names = appliances.map(({ identity }) => identity.appliance);
  const reasons = listed([...new Set(names.map((name) => reasonOf(verdict, name)))]);
  const summary =
    names.length === 1
      ? `${listed(names)} is down: ${reasons}`
      : `No appliance of ${facts.cluster} can be reached, ${listed(names)}: ${reasons}`;
  const since = appliances.map(({ sinceMs }) => sinceMs);
  const last = since.some((atMs) => atMs === undefined) ? undefined : Math.max(...since.map((ms) => ms ?? 0));
  return problem("cluster_dark", { summary, since: optionalInstant(last) });
}

function unreachable(
  { identity, state, sinceMs }: ApplianceVerdict,
  verdict: ClusterVerdict,
): readonly Problem[] {
  const kind = state && APPLIANCE_PROBLEMS[state];
  if (kind === undefined) return [];
  const { appliance } = identity;
  const verb = state === "down" ? "is down" : "is not polled successfully";
  const summary = `${appliance} ${verb}: ${reasonOf(verdict, appliance)}`;
  return [problem(kind, { summary, appliance, since: optionalInstant(sinceMs) })];
}

/** Words in front of and behind the names of all groups with the same problem. */
type GroupWords = readonly [before: string, behind: string];

/** Groups with the same problem are one problem. */
function groupProblems(verdict: ClusterVerdict): readonly Problem[] {
  const found = new Map<string, readonly GroupVerdict[]>();
  for (const group of verdict.groups) {
    const kind = kindOf(group, verdict);
    if (kind === undefined) continue;
    const key = [kind, ...wordsOf(group)].join("\n");
    found.set(key, [...(found.get(key) ?? []), group]);
  }
  return [...found.values()].flatMap((groups) => {
    const [first] = groups;
    const kind = first && kindOf(first, verdict);
    if (first === undefined || kind === undefined) return [];
    const names = listed(
      groups.map(({ facts }) => groupName(facts)),
      NAMED_GROUPS,
    );
    const { vhid, vip } = first.facts;
    const since = optionalInstant(earliest(groups.map(({ sinceMs }) => sinceMs)));
    return [problem(kind, { summary: wordsOf(first).join(names), group: { vhid, vip }, since })];
  });
}

const NAMED_GROUPS = 12;

function kindOf({ facts, state }: GroupVerdict, { appliances }: ClusterVerdict): ProblemKind | undefined {
  if (state === "one_master" && facts.isPreferredMaster === false) return "preferred_master_lost";
  const silent = membersIn(facts, "unknown");
  const isPending = silent.every((name) =>
    appliances.some((each) => each.identity.appliance === name && each.state === undefined),
  );
  // What follows from an appliance that was not polled yet is no problem.
  if ((state === "unknown" || state === "backup_unknown") && isPending) return undefined;
  return state && GROUP_PROBLEMS[state];
}

function wordsOf({ facts, state, master = "" }: GroupVerdict): GroupWords {
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

/** One problem for each website: the worst one, over its protocols. */
function websiteProblems(verdict: ClusterVerdict): readonly Problem[] {
  const byWebsite = new Map<number, readonly WebsiteVerdict[]>();
  for (const each of verdict.websites)
    byWebsite.set(each.websiteId, [...(byWebsite.get(each.websiteId) ?? []), each]);
  return [...byWebsite].flatMap(([id, verdicts]) => {
    for (const state of ["down", "down_at_master", "unknown", "partially_down"] as const) {
      const found = verdicts.filter((each) => each.state === state);
      const [first] = found;
      if (first === undefined) continue;
      if (state === "unknown" && hidesWebsites(verdict)) return [];
      const { website: name } = first;
      const words = state === "unknown" ? "not known to be up" : state.replaceAll("_", " ");
      const summary = `Website ${name} is ${words}: ${findings(verdict, found)}`;
      const since = optionalInstant(earliest(found.map(({ sinceMs }) => sinceMs)));
      return [problem(WEBSITE_PROBLEMS[state], { summary, website: { id, name }, since })];
    }
    return [];
  });
}

/** `https 503 from a and b, https 200 from c, no result from d: it does not answer in time (timeout)`. */
function findings({ facts }: ClusterVerdict, verdicts: readonly WebsiteVerdict[]): string {
  const protocols = new Set<string>(verdicts.map(({ protocol }) => protocol));
  const from = new Map<string, readonly string[]>();
  for (const { identity, websites } of facts.appliances) {
    for (const website of websites.filter(({ websiteId }) => websiteId === verdicts[0]?.websiteId)) {
      for (const finding of findingsOf(website, protocols))
        from.set(finding, [...(from.get(finding) ?? []), identity.appliance]);
    }
  }
  return Array.from(from, ([finding, names]) => {
    const [what, why] = finding.split("\n");
    return `${what} from ${listed(names)}${why === undefined ? "" : `: ${why}`}`;
  }).join(", ");
}

function findingsOf(
  { health, statuses = [] }: WebsiteSnapshot,
  protocols: ReadonlySet<string>,
): readonly string[] {
  if (health.failure !== undefined) return [`no result\n${reasonInWords(health.failure.reason)}`];
  const found = statuses.filter(({ protocol }) => protocols.has(protocol));
  if (found.length === 0) return ["no status"];
  return found.map(({ protocol, status, text }) => `${protocol} ${statusText(status, text)}`);
}

/** Interfaces in a state that is neither MASTER nor BACKUP; worse where no other appliance can take over. */
function oddStates({ identity, vrrp }: ApplianceSnapshot, isAlone: boolean): readonly Problem[] {
  const odd = (vrrp.list?.interfaces ?? []).filter(({ state }) => state !== "MASTER" && state !== "BACKUP");
  const [first] = odd;
  if (first === undefined) return [];
  const states = listed(
    odd.map((each) => `${each.state} on ${each.name} for ${groupName(each)}`),
    NAMED_GROUPS,
  );
  return [
    problem(isAlone ? "not_serving" : "odd_state", {
      summary: `${identity.appliance} reports ${states}`,
      appliance: identity.appliance,
      group: { vhid: first.vhid, vip: first.vip },
      since: optionalInstant(first.lastTransitionAtMs),
    }),
  ];
}

const CERTIFICATE_NOTICE_MS = 14 * 24 * 3_600_000;

/** Until its end: from then on either polls fail for it, or it is pinned and nothing is wrong. */
function expiring({ identity: { appliance }, vrrp }: ApplianceSnapshot, nowMs: number): readonly Problem[] {
  const endsMs = (vrrp.certificate?.notAfterSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  if (endsMs <= nowMs || endsMs - nowMs > CERTIFICATE_NOTICE_MS) return [];
  const summary = `The certificate of ${appliance} expires on ${instantOf(endsMs).slice(0, 10)}`;
  return [problem("certificate_expires", { summary, appliance })];
}

function deviating({ identity: { appliance }, vrrp }: ApplianceSnapshot): readonly Problem[] {
  const count = Object.values(vrrp.list?.anomalies ?? {}).reduce((sum, each) => sum + each, 0);
  if (count === 0) return [];
  const places = count === 1 ? "one place" : `${count} places`;
  const summary = `The VRRP list of ${appliance} deviates from the API in ${places}`;
  return [problem("api_anomalies", { summary, appliance })];
}

function notReloaded(failedAtMs: number): Problem {
  const summary = "The configuration could not be reloaded; the previous one is in use";
  return problem("reload_failed", { summary, since: instantOf(failedAtMs) });
}

function notPolledYet(clusters: readonly ClusterVerdict[]): readonly Problem[] {
  const pending = clusters
    .flatMap(({ facts }) => facts.appliances)
    .filter(({ vrrp, websites }) =>
      [vrrp, ...websites].some(({ health }) => health.state === "never_polled"),
    );
  const [first] = pending;
  if (first === undefined) return [];
  const who = pending.length === 1 ? first.identity.appliance : `${pending.length} appliances`;
  return [problem("not_polled_yet", { summary: `Not everything of ${who} was polled yet` })];
}

/** `undefined` where one of them is not known: it may be earlier. */
function earliest(instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter((atMs) => atMs !== undefined);
  return known.length < instants.length ? undefined : Math.min(...known);
}
