import type { FailureReason } from "../api/failure.ts";
import { groupBy } from "../../support/group-by.ts";
import {
  anomalyCount,
  contendersIn,
  groupKey,
  membersIn,
  pendingIn,
  type ApplianceSnapshot,
  type GroupSnapshot,
  type InterfaceSnapshot,
  type PollHealth,
  type WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import { hidesWebsites, type ClusterVerdict, type GroupVerdict, type WebsiteVerdict } from "./verdict.ts";
import type { Problem } from "./problem.ts";
import {
  type AdviceNames,
  type ApplianceProblem,
  PROBLEM_KINDS,
  PROBLEM_OF,
  PROBLEMS,
  type ProblemKind,
  type RiskKind,
} from "./states.ts";
import { once } from "../../support/kept.ts";
import { oddInterfaces } from "./judge-appliance.ts";
import { unwatchedIn } from "./judge-group.ts";
import { isPartOf } from "./judge-website.ts";
import { isPlanned } from "./judge-windows.ts";
import { readinessSentence } from "./readiness-words.ts";
import { subjectKeys, websiteKeys } from "./subjects.ts";
import { listed, wording, wordsFor, type CountedWords, type Words } from "../../support/text.ts";
import { minuteInUtc } from "../../support/time-zone.ts";
import {
  groupName,
  groupRef,
  groupWords,
  idAt,
  instantOf,
  interfaceName,
  NAMED,
  optionalInstant,
  reasonInWords,
  shortened,
  statusText,
} from "./words.ts";

/** An appliance may be in trouble on a thousand interfaces. */
const MAX_KEYS = 100;
const NOT_STORED = "The exporter cannot write its journal: it will not remember what happens now";
const NOT_RELOADED = "The configuration could not be reloaded; the previous one is in use";

/** What the exporter knows of itself, as Unix times in milliseconds. */
export interface OwnFacts {
  /** The time at which the configuration could not be loaded; `undefined` if it was loaded since. */
  readonly reloadFailedAtMs: number | undefined;
  /** The time since which the journal cannot be written; `undefined` if it can, or if there is none. */
  readonly storageFailingSinceMs: number | undefined;
}

/** Returns all problems, worst first: by kind, then in the order of the configuration. */
export function problemsOf(
  clusters: readonly ClusterVerdict[],
  { reloadFailedAtMs, storageFailingSinceMs }: Partial<OwnFacts> = {},
): readonly Problem[] {
  return worstFirst([
    ...clusters.flatMap(lastingProblems),
    ...[
      ...(reloadFailedAtMs === undefined
        ? []
        : problem("reload_failed", NOT_RELOADED, { since: instantOf(reloadFailedAtMs) })),
      ...(storageFailingSinceMs === undefined
        ? []
        : problem("storage_failing", NOT_STORED, { since: instantOf(storageFailingSinceMs) })),
      ...notPolledYet(clusters),
    ].map((each) => ({ ...each, advice: PROBLEMS[each.kind].advice(NO_NAMES) })),
  ]);
}

const NO_NAMES: AdviceNames = { members: "", appliance: "", vips: "", isUpElsewhere: false };
/** The most VIPs that an advice names. */
const NAMED_VIPS = 2;
/** The most websites that the problem about most of them names. */
const NAMED_WEBSITES = 3;

/** Returns a problem of a cluster with the advice about it. */
function advised(given: Unadvised, { facts, groups, websites }: ClusterVerdict): Problem {
  const vips = [...new Set(Array.from(groups.values(), (group) => group.facts.vip))];
  const members = facts.appliances.map(({ identity }) => identity.appliance);
  const { kind, website, appliance = members[0] ?? "" } = given;
  const states = [...websites.values()].filter(({ websiteId }) => websiteId === website?.id);
  const isUpElsewhere = states.some((each) => each.states.some(({ state }) => state === "down_at_master"));
  const advice = PROBLEMS[kind].advice({
    members: listed(members, NAMED),
    appliance,
    vips: vips.length === 0 ? "its VIPs" : listed(vips.slice(0, NAMED_VIPS)),
    isUpElsewhere,
    failure: facts.appliances.find(({ identity }) => identity.appliance === appliance)?.vrrp.health.failure,
  });
  return { ...given, cluster: facts.cluster, advice };
}

/** Sorts problems, worst first; planned ones come last. */
function worstFirst(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ kind, isPlanned: isMuted = false }: Problem): number {
  return PROBLEM_KINDS.indexOf(kind) + (isMuted ? PROBLEM_KINDS.length : 0);
}

/** A problem before the advice about it is known. */
type Unadvised = Omit<Problem, "advice">;

/** Returns a list of one problem; `concerned` has its subject and its beginning. */
function problem(
  kind: ProblemKind,
  summary: string,
  concerned: Partial<Unadvised> = {},
): readonly Unadvised[] {
  const keys = concerned.keys?.slice(0, MAX_KEYS);
  return [{ kind, severity: PROBLEMS[kind].severity, summary: shortened(summary), ...concerned, keys }];
}

/** Returns the problems of a cluster, worst first; planned ones come last. One that another includes is left out. */
export const lastingProblems = once((verdict: ClusterVerdict): readonly Problem[] =>
  withoutParts(plannedProblems(verdict)),
);

/** Returns all problems of a cluster, and says which are planned, worst first. */
export const plannedProblems = once((verdict: ClusterVerdict): readonly Problem[] => {
  const { planned } = verdict;
  const problems = problemsIn(verdict);
  if (planned === undefined) return problems;
  const lost = planned.notHandedOver.flatMap((appliance) =>
    problem("not_handed_over", `${appliance} fell silent as MASTER: it was not handed over before the work`, {
      appliance,
      keys: [subjectKeys.appliance(appliance)],
    }).map((each) => advised(each, verdict)),
  );
  const all = problems.map((each) => (isPlanned(planned, each) ? { ...each, isPlanned: true } : each));
  return worstFirst([...all, ...lost]);
});

/** Returns the problems without those about single websites that the problem about most of them includes. */
function withoutParts(problems: readonly Problem[]): readonly Problem[] {
  const whole = problems.find(({ kind }) => kind === "websites_down");
  return whole === undefined
    ? problems
    : problems.filter((each) => !isDown(each) || each.isPlanned !== whole.isPlanned);
}

function isDown({ kind }: Pick<Problem, "kind">): boolean {
  return kind === "website_down" || kind === "website_unknown";
}

/**
 * Returns the problems of a cluster, worst first, planned or not. Consequences of another problem are left out: the groups and websites of
 * a dark cluster, unknown websites of a cluster whose master is unknown, and groups that are not known while a schedule rests.
 */
export const problemsIn = once((verdict: ClusterVerdict): readonly Problem[] => {
  const { facts, state } = verdict;
  const darkness = state && PROBLEM_OF.cluster[state];
  const problems = [
    ...(darkness === undefined
      ? [
          groupProblems,
          unreadProblem,
          websiteProblems,
          backendProblems,
          readinessProblems,
          unequalProblem,
        ].flatMap((of) => of(verdict))
      : dark(darkness, verdict)),
    ...facts.appliances.flatMap((each) => applianceProblems(each, verdict)),
    ...restingProblem(verdict),
  ];
  return worstFirst(problems.map((each) => advised(each, verdict)));
});

function dark(kind: ProblemKind, { facts, appliances }: ClusterVerdict): readonly Unadvised[] {
  const names = listed(facts.appliances.map(({ identity }) => identity.appliance));
  const summary =
    facts.appliances.length === 1
      ? `${names} is down: ${reasonsOf(facts.appliances)}`
      : `No appliance of ${facts.cluster} can be reached, ${namesWithReasons(facts.appliances)}`;
  const sinceMs = Math.max(...Array.from(appliances.values(), (each) => each.sinceMs ?? Number.NaN));
  return problem(kind, summary, { keys: [subjectKeys.cluster], since: optionalInstant(sinceMs) });
}

function applianceProblems(facts: ApplianceSnapshot, verdict: ClusterVerdict): readonly Unadvised[] {
  const { appliance } = facts.identity;
  const { state, problems = [], sinceMs } = verdict.appliances.get(appliance) ?? {};
  return problems.flatMap((kind) => {
    if (kind === "appliance_down" && verdict.state === "dark") return [];
    const summary = APPLIANCE_WORDS[kind](appliance, facts);
    const isState = kind === (state && PROBLEM_OF.appliance[state]);
    const interfaces = kind === "odd_state" || kind === "not_serving" ? oddInterfaces(facts.vrrp) : [];
    const [odd] = interfaces;
    const group = odd && groupRef(groupWith(odd, appliance, verdict) ?? odd.reported);
    const since = optionalInstant(isState ? sinceMs : odd?.lastTransitionAtMs);
    const groups = interfaces.map((each) => groupKey(groupWith(each, appliance, verdict) ?? each.reported));
    const keys = [
      subjectKeys.appliance(appliance),
      ...groups.filter((key) => verdict.groups.has(key)).map(subjectKeys.group),
      ...interfaces.map(({ reported }) => subjectKeys.interface(appliance, interfaceName(reported))),
    ];
    return problem(kind, summary, { appliance, group, keys, since });
  });
}

/** Returns the group of an appliance's interface if a link tells it apart from others. */
function groupWith(
  { reported: { name, vhid, vip } }: InterfaceSnapshot,
  appliance: string,
  { groups }: ClusterVerdict,
): GroupSnapshot | undefined {
  const alike = Array.from(groups.values(), ({ facts }) => facts).filter(
    (facts) => facts.interface !== "" && facts.vhid === vhid && facts.vip === vip,
  );
  return alike.find(({ members }) =>
    members.some((member) => member.appliance === appliance && member.interfaces.includes(name)),
  );
}

type ApplianceWords = (name: string, facts: ApplianceSnapshot) => string;

const unpolled: ApplianceWords = (name, facts) => `${name} is not polled successfully: ${reasonOf(facts)}`;

const odd: ApplianceWords = (name, facts) => {
  const states = oddInterfaces(facts.vrrp).map(
    ({ reported }) => `${reported.state} on ${reported.name} for ${groupName(reported)}`,
  );
  return `${name} reports ${listed(states, NAMED)}`;
};

const APPLIANCE_WORDS: Readonly<Record<ApplianceProblem, ApplianceWords>> = {
  appliance_down: (name, facts) => `${name} is down: ${reasonOf(facts)}`,
  appliance_refused: unpolled,
  polling_stuck: unpolled,
  not_serving: odd,
  odd_state: odd,
  certificate_expires: (name, { vrrp: { certificate } }) => {
    const signer = certificate?.endingSigner;
    const { notAfterSeconds = 0 } = signer ?? certificate ?? {};
    const which = signer === undefined ? "The" : `The ${signer.role} ${signer.subject} behind the`;
    return `${which} certificate of ${name} expires on ${instantOf(notAfterSeconds * 1000).slice(0, 10)}`;
  },
  websites_not_listed: (name, { discovery }) => {
    const { list, details } = discovery ?? {};
    const { reason = "internal" } = list?.failure ?? details?.failure ?? {};
    return list?.failure === undefined
      ? `Details of websites of ${name} are not known: ${reasonInWords(reason, { isUp: true })}`
      : `The websites of ${name} cannot be listed: ${reasonInWords(reason, { isUp: true })}`;
  },
  websites_left_out: (name, { discovery }) =>
    `${counted(discovery?.beyondLimit, "website")} of ${name} beyond the limit of website_discovery: not tested`,
  backends_left_out: (name, { discovery }) =>
    `${counted(discovery?.backendsLeftOut, "server")} behind websites of ${name} beyond 32 of a website or 2,000 in all: only counted`,
  api_anomalies: (name, { anomalies }) => {
    const places = counted(anomalyCount(anomalies.counts), "place").toLowerCase();
    return `The answers of ${name} deviate from the API in ${places}`;
  },
};

/** Returns `One website` or `2 websites`. */
function counted(count: number | undefined, noun: string): string {
  return count === 1 ? `One ${noun}` : `${count} ${noun}s`;
}

function reasonOf(facts: ApplianceSnapshot): string {
  return reasonInWords(reasonOfPoll(facts) ?? "internal");
}

/** Returns the reason that all appliances share, or else those of each. */
function reasonsOf(appliances: readonly ApplianceSnapshot[]): string {
  const [reason, ...others] = new Set(appliances.map(reasonOfPoll));
  return reason === undefined || others.length > 0
    ? namesWithReasons(appliances)
    : reasonInWords(reason, { isPlural: appliances.length > 1 });
}

/** Returns `a and b: they do not answer in time (timeout); c: it refuses the credentials (auth)`, without those that were not polled yet. */
function namesWithReasons(appliances: readonly ApplianceSnapshot[]): string {
  const failing = appliances.filter((each) => reasonOfPoll(each) !== undefined);
  const clauses = Array.from(groupBy(failing, reasonOfPoll), ([reason = "internal", all]) => {
    const words = reasonInWords(reason, { isPlural: all.length > 1 });
    return `${listed(all.map(({ identity }) => identity.appliance))}: ${words}`;
  });
  return clauses.join("; ");
}

function reasonOfPoll(facts: ApplianceSnapshot | undefined): FailureReason | undefined {
  return facts?.vrrp.health.failure?.reason;
}

/** Returns the problems of groups. Groups with the same problem are one problem. */
function groupProblems({
  groups,
  cachedInputs,
  facts: { appliances },
}: ClusterVerdict): readonly Unadvised[] {
  const unwatched = cachedInputs.disabled.length > 0 ? new Set() : unwatchedIn(cachedInputs);
  const isConsequence = ({ state, facts }: GroupVerdict): boolean =>
    (state === "unwatched" || state === "backup_unknown") &&
    contendersIn(facts, "unknown").some((name) => unwatched.has(name));
  const found = [...groups.values()].filter((group) => group.problem !== undefined && !isConsequence(group));
  const wordsOf = (group: GroupVerdict) => {
    const silent = membersIn(group.facts, "unknown");
    return groupWords(
      group,
      reasonsOf(appliances.filter(({ identity }) => silent.includes(identity.appliance))),
    );
  };
  const alike = groupBy(found, (group) => JSON.stringify([group.problem, wordsOf(group)]));
  return [...alike.values()].flatMap((all) => {
    const [first] = all;
    if (first?.problem === undefined) return [];
    const names = all.map(({ facts }) => groupName(facts));
    const summary = wordsOf(first).join(listed(names, NAMED));
    const keys = all.map(({ facts }) => subjectKeys.group(facts.key));
    return problem(first.problem, summary, { group: groupRef(first.facts), keys, since: earliest(all) });
  });
}

/**
 * Returns the problem of a cluster of several appliances none of whose lists was ever read, so that no group is known. One failure of each is
 * not enough: the next poll, or an earlier run of the exporter, has to confirm it. Nobody saw the beginning.
 */
function unreadProblem({
  facts,
  cachedInputs,
  state,
  appliances,
  groups,
}: ClusterVerdict): readonly Unadvised[] {
  const { cluster, disabled } = facts;
  const isWhole = appliances.size > 1 && disabled.length === 0;
  if (state !== "unknown" || !isWhole || groups.size > 0) return [];
  const isConfirmed = cachedInputs.appliances.every(({ identity, isRead, isProvenUnread }) => {
    const isLasting = appliances.get(identity.appliance)?.sinceMs !== undefined;
    return !isRead && (isProvenUnread || isLasting);
  });
  if (!isConfirmed) return [];
  const names = listed([...appliances.keys()], NAMED);
  const summary = `No VRRP list of ${cluster} was ever read, since ${names} cannot be polled: ${reasonsOf(facts.appliances)}`;
  return problem("master_unknown", summary, { keys: [subjectKeys.cluster] });
}

const WORST_FIRST = ["down", "down_at_master", "unknown", "partially_down", "unstable"] as const;
const WORDS: Readonly<Record<string, string>> = {
  down_at_master: "down at the master",
  unknown: "not known to be up",
  unstable: "up, but some tests fail",
};

/** A website is one of many that are down from this number on, if they are more than half of the cluster's. */
const MANY = 3;

/** Returns one problem for each website, and one for most websites of the cluster if they are down together. */
function websiteProblems(verdict: ClusterVerdict): readonly Unadvised[] {
  const all = eachWebsite(verdict);
  const down = all.filter(isDown);
  const isMost = down.length >= MANY && down.length * 2 > verdict.websites.size;
  if (!isMost || !down.some(({ kind }) => kind === "website_down")) return all;
  const names = down.flatMap(({ website }) => website?.name ?? []);
  const summary = `${down.length} of ${verdict.websites.size} websites are down: ${listed(names, NAMED_WEBSITES)}`;
  const keys = down.flatMap((each) => each.keys ?? []);
  const since = down.every((each) => each.since !== undefined)
    ? down.flatMap((each) => each.since ?? []).toSorted()[0]
    : undefined;
  return [...problem("websites_down", summary, { keys, since }), ...all];
}

/** Returns one problem for each website: the worst one, over its protocols. */
function eachWebsite(verdict: ClusterVerdict): readonly Unadvised[] {
  return [...verdict.websites.values()].flatMap((website) => {
    const { websiteId: id, website: name, states } = website;
    const state = WORST_FIRST.find((worst) => states.some((each) => each.state === worst));
    if (state === undefined || (state === "unknown" && hidesWebsites(verdict))) return [];
    if (state === "partially_down" && isInReadiness(verdict, website, "website_down")) return [];
    const found = states.filter((each) => each.state === state);
    const protocols = new Set<string>(found.map(({ protocol }) => protocol));
    const summary = `Website ${name} is ${WORDS[state] ?? state.replaceAll("_", " ")}: ${resultWords(verdict, website, protocols)}`;
    const keys = found.map(({ protocol }) => subjectKeys.website(protocol, website.key));
    const concerned = { website: { id, name }, keys, since: earliest(found) };
    return problem(PROBLEM_OF.website[state], summary, concerned);
  });
}

/** Returns `https 503 from a and b, missing at c, no result from d: it does not answer in time (timeout)`. */
function resultWords(
  { facts, appliances }: ClusterVerdict,
  { lacking, websiteId, ids }: WebsiteVerdict,
  protocols: ReadonlySet<string>,
): string {
  const found = facts.appliances.flatMap((member) => {
    const { appliance } = member.identity;
    const id = idAt({ id: websiteId, ids }, appliance);
    const tests = member.websites.filter((website) => website.websiteId === id);
    const isMissing = id === undefined && lacking.includes(appliance);
    const isUp = appliances.get(appliance)?.state === "up";
    const all = isMissing
      ? [wording(["missing at ", ""])]
      : tests.flatMap((each) => testWords(each, protocols, isUp));
    return all.map((said) => ({ said, appliance }));
  });
  const same = groupBy(found, ({ said }) => said.one.join("\n"));
  return Array.from(same.values(), (all) => {
    const names = all.map(({ appliance }) => appliance);
    return all[0] === undefined ? "" : wordsFor(all[0].said, names.length).join(listed(names));
  }).join(", ");
}

function testWords(
  { health, found }: WebsiteSnapshot,
  protocols: ReadonlySet<string>,
  isUp: boolean,
): readonly CountedWords[] {
  if (health.failure !== undefined) {
    const { reason } = health.failure;
    const said = (isPlural: boolean): Words => [
      "no result from ",
      `: ${reasonInWords(reason, { isUp, isPlural })}`,
    ];
    return [wording(said(false), said(true))];
  }
  const statuses = [...(found?.statuses ?? []), ...(found?.uncertain ?? [])];
  // A website of which no test ever had a status has no protocol yet.
  const wanted = statuses.filter(({ protocol }) => protocols.has(protocol) || protocols.has(""));
  if (wanted.length === 0) return [wording(["no status from ", ""])];
  return wanted.map(({ protocol, status, text }) =>
    wording([`${protocol} ${statusText(status, text)} from `, ""]),
  );
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

/** Whether the problem about readiness already reports the trouble of a website at some members. */
function isInReadiness(verdict: ClusterVerdict, { key }: WebsiteVerdict, kind: RiskKind): boolean {
  const { risks, hasMore } = lostWebsites(verdict);
  return hasMore || risks.get(key)?.some(({ risk }) => risk === kind) === true;
}

function readinessProblems(verdict: ClusterVerdict): readonly Unadvised[] {
  return [...verdict.readiness.values()].flatMap((readiness) => {
    if (readiness.state !== "losses") return [];
    const { identity, sinceMs } = readiness;
    const { appliance } = identity;
    const keys = [subjectKeys.readiness(appliance)];
    const concerned = { appliance, keys, since: optionalInstant(sinceMs) };
    return problem(PROBLEM_OF.readiness[readiness.state], readinessSentence(readiness, verdict), concerned);
  });
}

/** Returns a problem for websites that are not the same for visitors at each member, if nobody knows which member would take over. */
function unequalProblem({
  facts: { cluster, appliances },
  websites,
  readiness,
}: ClusterVerdict): readonly Unadvised[] {
  const isComparable = appliances.length > 1 && appliances.every(({ inventory }) => inventory.isListed);
  if (readiness.size > 0 || !isComparable) return [];
  const unequal = [...websites.values()].flatMap((website) => {
    const words = website.found.length === 0 ? [] : inequalities(website);
    return words.length === 0 ? [] : [{ website, words: `${website.website} (${words.join("; ")})` }];
  });
  if (unequal.length === 0) return [];
  const words = unequal.map((each) => each.words);
  const keys = unequal.flatMap(({ website }) => websiteKeys(website));
  return problem("websites_unequal", `The members of ${cluster} differ in ${listed(words, NAMED)}`, { keys });
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
  return [...(lacking.length === 0 ? [] : [`missing at ${lacking.join(", ")}`]), ...differing];
}

function backendProblems(verdict: ClusterVerdict): readonly Unadvised[] {
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
    return [
      failed > 0 ? `${listed(names, NAMED, failed)} at ${appliance}` : `none in service at ${appliance}`,
    ];
  });
  const summary = isLost
    ? `No server behind website ${name} is usable: ${reports.join(", ")}`
    : `Servers behind website ${name} are down: ${reports.join(", ")}`;
  const since = optionalInstant(verdict.latestBackends?.sinceMs);
  return problem(kind, summary, { website: { id, name }, keys: websiteKeys(verdict), since });
}

interface Resting {
  /** Returns the health of the polls that one schedule has. */
  readonly healthsOf: (facts: ApplianceSnapshot) => readonly (PollHealth | undefined)[];
  readonly wordsOf: (names: readonly string[]) => string;
}

/** The schedules that may rest, first the one whose rest says most. */
const RESTING: readonly Resting[] = [
  {
    healthsOf: ({ vrrp }) => [vrrp.health],
    wordsOf: (names) => `${listed(names)} ${names.length > 1 ? "are" : "is"} not polled`,
  },
  {
    healthsOf: ({ websites }) => websites.map(({ health }) => health),
    wordsOf: (names) => `Websites are not tested by ${listed(names)}`,
  },
  {
    healthsOf: ({ discovery }) => [discovery?.list, discovery?.details],
    wordsOf: (names) => `Websites are not listed by ${listed(names)}`,
  },
];

/** Returns one problem for all schedules of a cluster that rest: `a and b are not polled until 2026-11-30 13:00 UTC, as scheduled`. */
function restingProblem({ facts: { appliances } }: ClusterVerdict): readonly Unadvised[] {
  const rests = appliances.flatMap((facts) => {
    const own = RESTING.flatMap(({ healthsOf, wordsOf }) => {
      const untilMs = restsUntilMs(healthsOf(facts));
      return untilMs === undefined ? [] : [{ name: facts.identity.appliance, wordsOf, untilMs }];
    });
    // Of schedules that go on at the same time, the first says enough.
    return own.filter((each, nth) => own.findIndex(({ untilMs }) => untilMs === each.untilMs) === nth);
  });
  const untilMs = Math.min(...rests.map((each) => each.untilMs));
  const alike = groupBy(
    rests,
    (each) => `${RESTING.findIndex(({ wordsOf }) => wordsOf === each.wordsOf)} ${each.untilMs}`,
  );
  const sentences = [...alike.values()].map((all) => {
    const words = all[0]?.wordsOf(all.map(({ name }) => name));
    return `${words} until ${minuteInUtc(all[0]?.untilMs ?? untilMs)}`;
  });
  if (rests.length === 0) return [];
  const keys = [...new Set(rests.map(({ name }) => subjectKeys.appliance(name)))];
  return problem("not_scheduled", `${sentences.join(". ")}, as scheduled`, {
    keys,
    until: instantOf(untilMs),
  });
}

/** Returns the Unix time in milliseconds of the next poll of operations that rest; `undefined` if none does. */
function restsUntilMs(healths: readonly (PollHealth | undefined)[]): number | undefined {
  const known = healths.flatMap((health) => health?.failure?.restsUntilMs ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}

function notPolledYet(clusters: readonly ClusterVerdict[]): readonly Unadvised[] {
  const pending = clusters.flatMap(({ facts }) => pendingIn(facts));
  const [first] = pending;
  if (first === undefined) return [];
  const who = pending.length === 1 ? first : `${pending.length} appliances`;
  return problem("not_polled_yet", `Not everything of ${who} was polled yet`);
}

/** Returns the earliest beginning; `undefined` if one of them is not known, since that one may be earlier. */
function earliest(verdicts: readonly { readonly sinceMs: number | undefined }[]): string | undefined {
  return optionalInstant(Math.min(...verdicts.map(({ sinceMs = Number.NaN }) => sinceMs)));
}
