import type { FailureReason } from "../api/failure.ts";
import { groupBy } from "../../support/group-by.ts";
import {
  anomalyCount,
  answersIn,
  contendersIn,
  groupKey,
  membersIn,
  type ApplianceSnapshot,
  type GroupIdentity,
  type GroupSnapshot,
  type InterfaceSnapshot,
  type PollHealth,
} from "../fleet/snapshot.ts";
import type { ClusterVerdict, GroupVerdict } from "./verdict.ts";
import { earliest, problem, type Problem, type Unadvised } from "./problem.ts";
import { type ApplianceProblem, PROBLEM_KINDS, PROBLEM_OF, PROBLEMS, type ProblemKind } from "./states.ts";
import { areSame, once } from "../../support/kept.ts";
import { MANY_CHANGES } from "./flapping.ts";
import { oddInterfaces } from "./judge-appliance.ts";
import { unwatchedIn } from "./judge-group.ts";
import { isPlanned } from "./judge-windows.ts";
import { risksApart } from "./readiness.ts";
import { readinessSentence } from "./readiness-words.ts";
import { subjectKeys } from "./subjects.ts";
import { listed } from "../../support/text.ts";
import { minuteInUtc } from "../../support/time-zone.ts";
import { backendProblems, isDown, unequalProblem, websiteProblems } from "./website-problems.ts";
import {
  addressName,
  FEW,
  groupRef,
  groupWords,
  instantOf,
  interfaceName,
  optionalInstant,
  reasonInWords,
  silence,
  vipsNamed,
} from "./words.ts";

/** Returns the problems of clusters and these of the exporter itself, worst first: by kind, then in the order of the configuration. */
export function problemsOf(
  clusters: readonly ClusterVerdict[],
  own: readonly Problem[] = [],
): readonly Problem[] {
  return worstFirst([...clusters.flatMap(lastingProblems), ...own]);
}

/** The most VIPs that an advice names. */
const NAMED_VIPS = 2;
/** Returns a problem of a cluster with the advice about it. */
function advised(given: Unadvised, { facts, groups, websites }: ClusterVerdict): Problem {
  const vips = vipsIn(groups);
  const members = facts.appliances.map(({ identity }) => identity.appliance);
  const { kind, website, appliance = members[0] ?? "" } = given;
  const { states = [] } = (website && websites.get(given.subject ?? "")) ?? {};
  const down = states.filter(({ state }) => state === "down" || state === "down_at_master");
  const isUpElsewhere = down.every(({ state }) => state === "down_at_master");
  const advice = PROBLEMS[kind].advice({
    members: listed(members, FEW),
    appliance,
    vips: vips.length === 0 ? "its VIPs" : listed(vips.slice(0, NAMED_VIPS)),
    isUpElsewhere,
    failure: facts.appliances.find(({ identity }) => identity.appliance === appliance)?.vrrp.health.failure,
  });
  const subject = given.subject ?? given.appliance ?? facts.cluster;
  return { ...given, cluster: facts.cluster, subject, advice };
}

const vipsIn = once((groups: ClusterVerdict["groups"]): readonly string[] => [
  ...new Set(Array.from(groups.values(), (group) => group.facts.vip)),
]);

/** Sorts problems, worst first; planned ones come last. */
function worstFirst(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ kind, isPlanned: isMuted = false }: Problem): number {
  return PROBLEM_KINDS.indexOf(kind) + (isMuted ? PROBLEM_KINDS.length : 0);
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
  const whole = problems.find(({ kind }) => kind === "websites_down" || kind === "websites_unknown");
  return whole === undefined
    ? problems
    : problems.filter((each) => !isDown(each) || each.isPlanned !== whole.isPlanned);
}

/**
 * Returns the problems of a cluster, worst first, planned or not. Consequences of another problem are left out: the groups and websites of
 * a dark cluster, unknown websites of a cluster whose master is unknown, and groups that are not known while a schedule rests.
 */
export const problemsIn = once((verdict: ClusterVerdict): readonly Problem[] => {
  const { cachedInputs, appliances, groups, websites, readiness, flapping } = verdict;
  const parts = { appliances, groups, websites, readiness, flapping };
  const known = wellWith.get(cachedInputs);
  const isKnownWell = known !== undefined && areSame(known, parts);
  if (isKnownWell && restingProblem(verdict).length === 0) return NO_PROBLEMS;
  const problems = foundProblems(verdict);
  if (problems.length === 0) wellWith.set(cachedInputs, parts);
  return problems;
});

const NO_PROBLEMS: readonly Problem[] = [];
/**
 * The parts of verdicts with which nothing is wrong. This is a cache for the many clusters that are well, of which every scrape asks. Of the
 * other facts, only a schedule that rests makes a problem: the rest of a list that older firmware lacks changes no verdict.
 */
const wellWith = new WeakMap<ClusterVerdict["cachedInputs"], PartsOfVerdict>();
type PartsOfVerdict = Pick<ClusterVerdict, "appliances" | "groups" | "websites" | "readiness" | "flapping">;

function foundProblems(verdict: ClusterVerdict): readonly Problem[] {
  const { facts, state } = verdict;
  const darkness = state && PROBLEM_OF.cluster[state];
  const problems = [
    ...(darkness === undefined
      ? [
          groupProblems,
          flappingProblem,
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
}

function dark(kind: ProblemKind, { facts, appliances }: ClusterVerdict): readonly Unadvised[] {
  const sinceMs = Math.max(...Array.from(appliances.values(), (each) => each.sinceMs ?? Number.NaN));
  const keys = [subjectKeys.cluster];
  return problem(kind, notReached(facts.appliances), { keys, since: optionalInstant(sinceMs) });
}

/** Returns `Neither a nor b is reached (timeout)`, with the reason of each where they differ. */
function notReached(appliances: readonly ApplianceSnapshot[]): string {
  const [first, second, ...others] = appliances;
  if (first !== undefined && second === undefined)
    return `${first.identity.appliance} is down: ${reasonOf(first)}`;
  const reasons = new Set(appliances.map(reasonOfPoll));
  const names = appliances.map((each) => {
    const { appliance } = each.identity;
    return reasons.size === 1 ? appliance : `${appliance} (${reasonOfPoll(each) ?? "internal"})`;
  });
  const who = others.length === 0 ? `Neither ${names.join(" nor ")}` : `None of ${listed(names, FEW)}`;
  return `${who} is reached${reasons.size === 1 ? ` (${[...reasons].join("")})` : ""}`;
}

function applianceProblems(facts: ApplianceSnapshot, verdict: ClusterVerdict): readonly Unadvised[] {
  const { appliance } = facts.identity;
  const { state, problems = [], sinceMs, heldUntilMs } = verdict.appliances.get(appliance) ?? {};
  return problems.flatMap((kind) => {
    if (kind === "appliance_down" && verdict.state === "dark") return [];
    const isLate = kind === "appliance_down" && heldUntilMs !== undefined;
    const words = APPLIANCE_WORDS[isLate ? "polling_stuck" : kind](appliance, facts, verdict);
    const summary = isLate ? `${words}; it was down a moment ago` : words;
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

type ApplianceWords = (name: string, facts: ApplianceSnapshot, verdict: ClusterVerdict) => string;

const unpolled: ApplianceWords = (name, facts) => `${name} is not polled: ${reasonOf(facts)}`;

/** Says whether somebody serves the cluster meanwhile. */
const refused: ApplianceWords = (name, facts, { groups }) => {
  const reason = reasonOfPoll(facts) ?? "internal";
  const said =
    reason === "auth" ? `refuses the exporter's password (auth)` : `is not polled: ${reasonInWords(reason)}`;
  const isServed = groups.size > 0 && [...groups.values()].every(({ master }) => master !== undefined);
  return `${name} ${said}. Nobody watches it${isServed ? ", its cluster has a MASTER" : ""}`;
};

function oddWords(consequence: string): ApplianceWords {
  return (name, facts) => {
    const byState = groupBy(oddInterfaces(facts.vrrp), ({ reported }) => reported.state);
    const states = Array.from(byState, ([state, [first, ...others]]) => {
      const where = others.length === 0 ? ` on ${first?.reported.name}` : "";
      const vips = [first, ...others].flatMap((each) => each?.reported.vip ?? []);
      return `${state} for ${vipsNamed(vips)}${where}`;
    });
    return `${name} reports ${listed(states, FEW)}: ${consequence}`;
  };
}

const APPLIANCE_WORDS: Readonly<Record<ApplianceProblem, ApplianceWords>> = {
  appliance_down: (name, facts) => `${name} is down: ${reasonOf(facts)}`,
  appliance_refused: refused,
  polling_stuck: unpolled,
  not_serving: oddWords("it serves nothing there"),
  odd_state: oddWords("it would not take over"),
  certificate_expires: (name, { vrrp: { certificate } }) => {
    const signer = certificate?.endingSigner;
    const { notAfterSeconds = 0 } = signer ?? certificate ?? {};
    const which = signer === undefined ? "certificate" : `${signer.role} ${signer.subject}`;
    return `The ${which} of ${name} ends on ${instantOf(notAfterSeconds * 1000).slice(0, 10)}: polls fail then, unless it is pinned`;
  },
  websites_not_listed: (name, { discovery }) => {
    const { list, details } = discovery ?? {};
    const { reason = "internal" } = list?.failure ?? details?.failure ?? {};
    return list?.failure === undefined
      ? `Details of websites of ${name} are not known: ${reasonInWords(reason, { isUp: true })}`
      : `The websites of ${name} cannot be listed: ${reasonInWords(reason, { isUp: true })}`;
  },
  websites_left_out: (name, { discovery }) =>
    `${counted(discovery?.beyondLimit, "website")} of ${name} beyond the limit of website discovery: not tested`,
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

/** Returns why appliances cannot be polled, those with the same reason together: `a and b do not answer in time (timeout); c refuses ...`. */
function silenceOf(appliances: readonly ApplianceSnapshot[]): string {
  const failing = appliances.filter((each) => reasonOfPoll(each) !== undefined);
  const alike = groupBy(failing, (each): FailureReason | "not_pinned" | undefined =>
    isNotPinned(each) ? "not_pinned" : reasonOfPoll(each),
  );
  const clauses = Array.from(alike, ([reason = "internal", all]) => {
    const names = all.map(({ identity }) => identity.appliance);
    if (reason !== "not_pinned") return silence(names, reason);
    return `${listed(names, FEW)} ${names.length > 1 ? "show" : "shows"} another certificate (renewed?)`;
  });
  return clauses.join("; ");
}

/** Whether an appliance shows another certificate than the one that is known. */
function isNotPinned({ vrrp: { health } }: ApplianceSnapshot): boolean {
  return health.failure?.code === "not_pinned";
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
    const names = membersIn(group.facts, "unknown");
    const silent = appliances.filter(({ identity }) => names.includes(identity.appliance));
    const latest = silent.find(({ identity: { appliance } }) => {
      const isLatest = appliance === group.latestMaster;
      return isLatest && answersIn(group.facts, appliance).at(-1)?.isMaster === true;
    });
    return groupWords(group, {
      why: silenceOf(silent),
      masterUntilMs: latest?.vrrp.health.lastSuccessAtMs,
    });
  };
  const alike = groupBy(found, (group) => JSON.stringify([group.problem, wordsOf(group)]));
  return [...alike.values()].flatMap((all) => {
    const [first] = all;
    if (first?.problem === undefined) return [];
    const summary = wordsOf(first).join(vipsNamed(namesOf(all.map(({ facts }) => facts))));
    const keys = all.map(({ facts }) => subjectKeys.group(facts.key));
    return problem(first.problem, summary, { group: groupRef(first.facts), keys, since: earliest(all) });
  });
}

/** Returns the VIPs of groups, each once, with the link of a VIP that exists on several. */
function namesOf(groups: readonly GroupIdentity[]): readonly string[] {
  return [...new Set(groups.map((group) => addressName(group.vip, group)))];
}

/** Returns one problem for all interfaces of a cluster that flap. */
function flappingProblem({ flapping, groups }: ClusterVerdict): readonly Unadvised[] {
  if (flapping === undefined) return [];
  const { interfaces, sinceMs } = flapping;
  const names = namesOf(interfaces.map(({ reported: { vhid, vip } }) => ({ vhid, vip })));
  const members = new Set(interfaces.map(({ appliance }) => appliance));
  const summary =
    `${vipsNamed(names)} ${names.length > 1 ? "flap" : "flaps"}: the state at ${listed([...members], FEW)} changed ` +
    `${MANY_CHANGES} times or more in 5 minutes`;
  const own = new Set(interfaces.map(({ reported }) => groupKey(reported)));
  const keys = [...groups.values()].flatMap(({ facts }) =>
    own.has(groupKey({ vhid: facts.vhid, vip: facts.vip })) ? subjectKeys.group(facts.key) : [],
  );
  return problem("flapping", summary, { keys, since: optionalInstant(sinceMs) });
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
  const summary = `No VRRP list of ${cluster} was ever read: ${silenceOf(facts.appliances)}`;
  return problem("master_unknown", summary, { keys: [subjectKeys.cluster] });
}

function readinessProblems(verdict: ClusterVerdict): readonly Unadvised[] {
  return [...verdict.readiness.values()].flatMap((readiness) => {
    if (risksApart(readiness).length === 0) return [];
    const { identity, sinceMs } = readiness;
    const { appliance } = identity;
    const keys = [subjectKeys.readiness(appliance)];
    const concerned = { appliance, keys, since: optionalInstant(sinceMs) };
    return problem("failover_not_ready", readinessSentence(readiness, verdict), concerned);
  });
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
    wordsOf: (names) => `${listed(names, FEW)} ${names.length > 1 ? "are" : "is"} not polled`,
  },
  {
    healthsOf: ({ websites }) => websites.map(({ health }) => health),
    wordsOf: (names) => `Websites are not tested by ${listed(names, FEW)}`,
  },
  {
    healthsOf: ({ discovery }) => [discovery?.list, discovery?.details],
    wordsOf: (names) => `Websites are not listed by ${listed(names, FEW)}`,
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
