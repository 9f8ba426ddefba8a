import {
  hostsAt,
  membersIn,
  preferredIn,
  type ClusterSnapshot,
  type GroupSnapshot,
} from "../fleet/snapshot.ts";
import {
  coverageOf,
  type Coverage,
  type MaintenanceWindow,
  type WorkElsewhere,
} from "../maintenance/window.ts";
import type { Instant } from "../../support/clock.ts";
import { keysOf } from "../../support/keys.ts";
import { ABOUT_APPLIANCES, ALERTS, type AlertName } from "./alerts.ts";
import { isPartOf } from "./judge-website.ts";
import type { Problem } from "./problem.ts";
import type { Memory } from "./memory.ts";
import { PROBLEMS, type ProblemFacts, type ProblemKind } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import { riskOf } from "./takeovers.ts";
import type { ClusterVerdict, Muted, Planned, Risk } from "./verdict.ts";

interface Given {
  readonly verdict: ClusterVerdict;
  /** All problems of the cluster. */
  readonly problems: readonly Problem[];
  /** All problems of the cluster before. */
  readonly problemsBefore: readonly Problem[];
  /** The windows that cover a part of the cluster, including those that ended in the last five minutes. */
  readonly windows: readonly MaintenanceWindow[];
  /** The verdict before, if there is one. */
  readonly before: ClusterVerdict | undefined;
  readonly memory: Memory | undefined;
  readonly at: Instant;
}

/** A window, and its coverage of the cluster. */
interface Work extends Coverage {
  readonly window: MaintenanceWindow;
  readonly verdict: ClusterVerdict;
  readonly isOver: boolean;
}

/** The appliances date these problems, and their clocks may be wrong. */
const DATED_BY_APPLIANCES: ReadonlySet<ProblemKind> = new Set(["odd_state", "not_serving"]);

/** Returns the alerts that are muted in a cluster; `undefined` if no window covers a part of it. */
export function plannedIn(given: Given): Planned | undefined {
  const { verdict, windows } = given;
  const { cluster, labels } = verdict.facts;
  const works = windows.flatMap((window) => workOf(window, given) ?? []);
  if (works.length === 0) return undefined;
  const running = works.filter(({ isOver }) => !isOver);
  const standing = running.flatMap(({ window }) => standingIn(window, given));
  const muted = keysOf(ALERTS).flatMap((alert) =>
    subjectsOf(alert, verdict.facts).flatMap((appliance): readonly Muted[] => {
      const one = { alert, appliance };
      const isStanding = ({ window }: Work): boolean => standing.includes(keyOf(window.id, one));
      return works.some((work) => isMuted(one, work) && !isStanding(work)) ? [one] : [];
    }),
  );
  return {
    kind: "planned",
    cluster,
    labels,
    windows: running.map(({ window, isWhole, members }) => ({ ...window, isWhole, members })),
    muted,
    standing,
    elsewhere: Array.from(verdict.failovers.values(), ({ identity }) =>
      elsewhereOf(running, identity.appliance).map((each) => ({ ...each, identity })),
    ).flat(),
    ...handoversOf(running, given),
    given: windows,
    untilMs: Math.min(...running.map(({ window }) => window.endMs)),
  };
}

/** Returns the windows that run and cover other members than an appliance. */
export function elsewhereOf(
  works: readonly (Pick<Work, "members"> & { readonly window: MaintenanceWindow })[],
  appliance: string,
): readonly WorkElsewhere[] {
  return works.flatMap(({ window, members }) => {
    const others = members.filter((each) => each !== appliance);
    return others.length === 0 ? [] : [{ window, members: others }];
  });
}

/** Returns the risks of the failure of an appliance that follow from windows on other members. */
export function elsewhereRisks(
  { elsewhere }: Pick<Planned, "elsewhere">,
  appliance: string,
): readonly Risk[] {
  return elsewhere
    .filter(({ identity }) => identity.appliance === appliance)
    .map(({ window, members: [first = "", ...others] }) => {
      const successor = others.length > 0 ? "" : first;
      return riskOf("planned_elsewhere", { successor, subject: window.id, key: "" });
    });
}

/** Whether a problem of the cluster is planned: the alert about it is muted. */
export function isPlanned(
  planned: Planned | undefined,
  problem: Pick<Problem, "kind" | "appliance">,
): boolean {
  const wanted = alertAbout(problem);
  return (
    planned?.muted.some(
      ({ alert, appliance }) => alert === wanted?.alert && appliance === wanted.appliance,
    ) === true
  );
}

/** Returns the alert that is muted if a problem is planned; `undefined` for a problem that never is. */
function alertAbout({ kind, appliance = "" }: Pick<Problem, "kind" | "appliance">): Muted | undefined {
  const { alert, mutedAs = alert }: ProblemFacts = PROBLEMS[kind];
  if (mutedAs === undefined) return undefined;
  return { alert: mutedAs, appliance: isAboutAppliances(mutedAs) ? appliance : "" };
}

function isAboutAppliances(alert: AlertName): boolean {
  return ABOUT_APPLIANCES.some((each) => each === alert);
}

function subjectsOf(alert: AlertName, { appliances }: ClusterSnapshot): readonly string[] {
  return isAboutAppliances(alert) ? appliances.map(({ identity }) => identity.appliance) : [""];
}

function keyOf(window: string, { alert, appliance }: Muted): string {
  return [window, alert, appliance].join(" ");
}

/**
 * Returns the problems that existed before the window began and still exist, unless another window planned them. Most problems have an
 * instant that shows this, now or in the verdict before the window. The others existed before the first verdict with the window.
 */
function standingIn(
  window: MaintenanceWindow,
  { problems, problemsBefore, before }: Given,
): readonly string[] {
  const isNew = before?.planned?.windows.some(({ id }) => id === window.id) !== true;
  const keyIn = (problem: Problem): string | undefined => {
    const muted = alertAbout(problem);
    return muted && keyOf(window.id, muted);
  };
  const wasPlanned = new Map(problemsBefore.map((each) => [keyIn(each), each.isPlanned === true]));
  const stood = new Set(
    isNew ? problemsBefore.filter((each) => beganBefore(each, window) ?? true).map(keyIn) : [],
  );
  return problems.flatMap((problem) => {
    const [key, { kind }] = [keyIn(problem), problem];
    if (key === undefined || wasPlanned.get(key) === true) return [];
    const isEarlier = stood.has(key) || beganBefore(problem, window) === true;
    if (!isEarlier && before?.planned?.standing.includes(key) !== true) return [];
    const isOfSeveral = kind === "website_down" || kind === "website_unknown";
    return isOfSeveral ? [key, keyOf(window.id, { alert: "WebsitesDown", appliance: "" })] : [key];
  });
}

/** Whether a problem began before a window; `undefined` if its beginning is not known. */
function beganBefore({ kind, since }: Problem, { beginMs }: MaintenanceWindow): boolean | undefined {
  return since === undefined || DATED_BY_APPLIANCES.has(kind) ? undefined : Date.parse(since) < beginMs;
}

function workOf(window: MaintenanceWindow, { verdict, at }: Given): Work | undefined {
  const coverage = coverageOf(window.scope, verdict.facts);
  if (coverage === undefined) return undefined;
  return { ...coverage, window, verdict, isOver: window.endMs <= at.wallMs };
}

function isMuted({ alert, appliance }: Muted, work: Work): boolean {
  if (isMemberAlert(alert)) return !work.isOver && FOLLOWS[alert](appliance, work);
  return ALERTS[alert] === "cluster" && work.isWhole && !work.isOver;
}

type MemberAlert = {
  [Alert in AlertName]: (typeof ALERTS)[Alert] extends "member" ? Alert : never;
}[AlertName];

function isMemberAlert(alert: AlertName): alert is MemberAlert {
  return ALERTS[alert] === "member";
}

const isWorkedOn = (appliance: string, { members }: Work): boolean => members.includes(appliance);

type Follows = (appliance: string, work: Work) => boolean;

/** For each alert, whether its present cause follows from work on members. */
const FOLLOWS: Readonly<Record<MemberAlert, Follows>> = {
  ApplianceDown: isWorkedOn,
  ApplianceRefused: isWorkedOn,
  ApplianceApiAnomalies: isWorkedOn,
  FailoverNotReady: (appliance, work) => {
    if (work.isWhole) return true;
    const { state, risks = [], more } = work.verdict.failovers.get(appliance) ?? {};
    const lost = [...risks, ...(more === undefined ? [] : [more.worst])].filter(
      ({ effect }) => effect === "loss",
    );
    return state === "losses" && lost.every(({ successor }) => isWorkedOn(successor, work));
  },
  VrrpRedundancyLost: (_, work) =>
    [...work.verdict.groups.values()].every(({ problem, facts, master }) => {
      if (problem !== "redundancy_lost" && problem !== "backup_unknown") return true;
      const backups = membersIn(facts, "backup");
      const missing = [...facts.members, ...facts.left].filter(
        ({ appliance }) => appliance !== master && !backups.includes(appliance),
      );
      return missing.every(({ appliance }) => isWorkedOn(appliance, work));
    }),
  VrrpPreferredMasterLost: (_, work) =>
    [...work.verdict.groups.values()].every(({ isPreferredMaster, facts, master = "" }) => {
      const concerned = [master, ...preferredIn(facts)];
      return isPreferredMaster !== false || concerned.some((name) => isWorkedOn(name, work));
    }),
  WebsitePartiallyDown: (_, work) =>
    [...work.verdict.websites.values()].every(({ states, results, at }) => {
      const partial = states.filter(({ state }) => state === "partially_down");
      const down = at.filter((_each, nth) =>
        results[nth]?.some(
          ({ protocol, result }) => result === "down" && partial.some((state) => state.protocol === protocol),
        ),
      );
      return down.every(({ known }) => isWorkedOn(known.identity.appliance, work));
    }),
  WebsiteBackendDown: (_, work) =>
    [...work.verdict.websites.values()].every(({ backends, found }) => {
      const concerned = found.filter(({ details }) => isPartOf(backends, details));
      return (
        backends !== "some_down" || concerned.every(({ identity }) => isWorkedOn(identity.appliance, work))
      );
    }),
};

function handoversOf(running: readonly Work[], given: Given): Pick<Planned, "masters" | "notHandedOver"> {
  const { verdict, before } = given;
  const works = running.filter(({ isWhole }) => !isWhole);
  const groups = [...verdict.groups.values()];
  const names = [...new Set(works.flatMap(({ members }) => members))];
  const masters = names.flatMap((appliance) => {
    const own = groups.filter(({ master }) => master === appliance);
    const addresses = hostsAt(own.map(({ facts }) => facts)).size;
    return addresses === 0 ? [] : [{ appliance, addresses }];
  });
  const wasLost = (name: string): boolean =>
    before?.planned?.notHandedOver.includes(name) === true ||
    groups.some(({ master, latestMaster }) => master === undefined && latestMaster === name) ||
    (isLostSince(name, works, given) && groups.some(({ facts }) => lastSaidMaster(name, facts))) ||
    wasLostBefore(name, works, given);
  const notHandedOver = names.filter(
    (name) => verdict.appliances.get(name)?.state === "down" && wasLost(name),
  );
  return { masters, notHandedOver };
}

/** Whether the last answer of an appliance was that it is MASTER of a group. */
function lastSaidMaster(name: string, { members, left }: GroupSnapshot): boolean {
  const { course = [] } = [...members, ...left].find(({ appliance }) => appliance === name) ?? {};
  return course.at(-1)?.role === "master";
}

/** Whether an appliance fell silent in a window that covers it. */
function isLostSince(name: string, works: readonly Work[], { verdict, at }: Given): boolean {
  const { vrrp } = verdict.facts.appliances.find(({ identity }) => identity.appliance === name) ?? {};
  const { lostSinceMs } = vrrp ?? {};
  if (lostSinceMs === undefined) return false;
  const wallMs = at.wallMs - (at.monotonicMs - lostSinceMs);
  return works.some(({ window, members }) => members.includes(name) && wallMs >= window.beginMs);
}

/** Whether an appliance fell silent as MASTER in a window that covers it, and the exporter was started since. */
function wasLostBefore(name: string, works: readonly Work[], { memory }: Given): boolean {
  const { isLostMaster, sinceMs } = memory?.get(subjectKeys.appliance(name)) ?? {};
  if (isLostMaster !== true || sinceMs === undefined) return false;
  return works.some(({ window, members }) => members.includes(name) && sinceMs >= window.beginMs);
}
