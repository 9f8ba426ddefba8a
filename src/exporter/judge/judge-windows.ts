import type { FailureReason } from "../api/failure.ts";
import { fellSilentAsMaster, masterSeenMs } from "../fleet/answers.ts";
import {
  answersIn,
  hostsAt,
  membersIn,
  pendingIn,
  preferredIn,
  type ClusterSnapshot,
  type GroupSnapshot,
} from "../fleet/snapshot.ts";
import {
  coverageOf,
  type Coverage,
  windowsElsewhere,
  type MaintenanceWindow,
} from "../maintenance/window.ts";
import type { Instant } from "../../support/clock.ts";
import { keysOf } from "../../support/keys.ts";
import { ABOUT_APPLIANCES, ALERTS, type AlertName } from "./alerts.ts";
import { isServing } from "./judge-appliance.ts";
import { failingBackendsAt, partiallyDownAt } from "./judge-website.ts";
import type { Problem } from "./problem.ts";
import { isEmpty, type Memory } from "./memory.ts";
import { mutedWith, type ProblemKind } from "./states.ts";
import { subjectKeys } from "./subjects.ts";
import { riskOf } from "./group-readiness.ts";
import { risksApart } from "./readiness.ts";
import type { ClusterVerdict, GroupVerdict, Muted, Risk, WindowVerdict } from "./verdict.ts";

interface WindowInputs {
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
interface CoveringWindow extends Coverage {
  readonly window: MaintenanceWindow;
  readonly verdict: ClusterVerdict;
  readonly at: Instant;
  readonly isOver: boolean;
}

/** The appliances date these problems, and their clocks may be wrong. */
const DATED_BY_APPLIANCES: ReadonlySet<ProblemKind> = new Set(["odd_state", "not_serving"]);

/** Returns the verdict on the windows of a cluster; `undefined` if none covers a part of it. */
export function windowVerdict(given: WindowInputs): WindowVerdict | undefined {
  const { verdict, windows } = given;
  const { cluster, labels } = verdict.facts;
  const coveringWindows = windows.flatMap((window) => coveringWindow(window, given) ?? []);
  if (coveringWindows.length === 0) return undefined;
  const running = coveringWindows.filter(({ isOver }) => !isOver);
  const standing = running.flatMap(({ window }) => standingIn(window, given));
  const muted = keysOf(ALERTS).flatMap((alert) =>
    subjectsOf(alert, verdict.facts).flatMap((appliance): readonly Muted[] => {
      const one = { alert, appliance };
      const isStanding = ({ window }: CoveringWindow): boolean => standing.includes(keyOf(window.id, one));
      return coveringWindows.some((window) => isMuted(one, window) && !isStanding(window)) ? [one] : [];
    }),
  );
  return {
    kind: "planned",
    cluster,
    labels,
    windows: running.map(({ window, isWhole, members }) => ({ ...window, isWhole, members })),
    muted,
    standing,
    elsewhere: Array.from(verdict.readiness.values(), ({ identity }) =>
      windowsElsewhere(running, new Set([identity.appliance])).map((each) => ({ ...each, identity })),
    ).flat(),
    ...handoversOf(running, given),
    isStarting: isStarting(given),
    allWindows: windows,
    untilMs: Math.min(...running.map(({ window }) => window.endMs)),
  };
}

/** Returns the risks of the failure of an appliance that follow from windows on other members. */
export function elsewhereRisks(
  { elsewhere }: Pick<WindowVerdict, "elsewhere">,
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
  planned: WindowVerdict | undefined,
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
  const alert = mutedWith(kind);
  return alert && { alert, appliance: isAboutAppliances(alert) ? appliance : "" };
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

/** Whether the exporter was started in the windows, and has not judged everything since then, so that a problem may be older. */
function isStarting({ before, memory }: WindowInputs): boolean {
  if (before === undefined) return true;
  return before.planned?.isStarting === true && (pendingIn(before.facts).length > 0 || !isEmpty(memory));
}

/**
 * Returns the problems that existed before the window began and still exist, unless another window planned them. Most problems have an
 * instant that shows this, now or in the verdict before the window. The others existed before the first verdict with the window. Of what a
 * start in a window of the journal finds, nobody knows whether it is the work: it counts as earlier.
 */
function standingIn(window: MaintenanceWindow, given: WindowInputs): readonly string[] {
  const { problems, problemsBefore, before } = given;
  const isFirstSight = window.origin !== "configuration" && isStarting(given);
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
    const isEarlier = stood.has(key) || (beganBefore(problem, window) ?? isFirstSight);
    if (!isEarlier && before?.planned?.standing.includes(key) !== true) return [];
    const isOfSeveral = kind === "website_down" || kind === "website_unknown";
    return isOfSeveral ? [key, keyOf(window.id, { alert: "WebsitesDown", appliance: "" })] : [key];
  });
}

/** Whether a problem began before a window; `undefined` if its beginning is not known. */
function beganBefore({ kind, since }: Problem, { beginMs }: MaintenanceWindow): boolean | undefined {
  return since === undefined || DATED_BY_APPLIANCES.has(kind) ? undefined : Date.parse(since) < beginMs;
}

function coveringWindow(
  window: MaintenanceWindow,
  { verdict, at }: WindowInputs,
): CoveringWindow | undefined {
  const coverage = coverageOf(window.scope, verdict.facts);
  if (coverage === undefined) return undefined;
  return { ...coverage, window, verdict, at, isOver: window.endMs <= at.wallMs };
}

function isMuted({ alert, appliance }: Muted, window: CoveringWindow): boolean {
  if (alert === "VrrpFlapping") return isFlappingPlanned(window);
  if (isMemberAlert(alert)) return !window.isOver && FOLLOWS[alert](appliance, window);
  return ALERTS[alert] === "cluster" && window.isWhole && !window.isOver;
}

/** The longest time from a change until the exporter sees it. */
const SEEN_WITHIN_MS = 10_000;

/**
 * Whether interfaces that flap follow from a window, running or over: each change came within the window, at a member that it covers, or
 * beside one. A member beside it that serves nothing now has a fault of its own. What flapped before a running window is standing.
 */
function isFlappingPlanned({ window, verdict, at, members, isOver }: CoveringWindow): boolean {
  const { flapping, groups } = verdict;
  if (flapping === undefined) return !isOver;
  const { sinceMs = Number.NEGATIVE_INFINITY } = flapping;
  if (isOver && sinceMs < window.beginMs) return false;
  const besides = new Set(
    Array.from(groups.values(), ({ facts }) => facts.members.map((member) => member.appliance))
      .filter((names) => names.some((name) => members.includes(name)))
      .flat(),
  );
  return flapping.interfaces.every(({ appliance, reported, changesMs }) => {
    const isWithin = changesMs.every((changeMs) => {
      const seenMs = at.wallMs - (at.monotonicMs - changeMs);
      return seenMs >= window.beginMs && seenMs <= window.endMs + SEEN_WITHIN_MS;
    });
    const isBeside = isServing(reported.state) && besides.has(appliance);
    return isWithin && (members.includes(appliance) || isBeside);
  });
}

type MemberAlert = Exclude<
  { [Alert in AlertName]: (typeof ALERTS)[Alert] extends "member" ? Alert : never }[AlertName],
  "VrrpFlapping"
>;

function isMemberAlert(alert: AlertName): alert is MemberAlert {
  return ALERTS[alert] === "member" && alert !== "VrrpFlapping";
}

const isCovered = (appliance: string, { members }: CoveringWindow): boolean => members.includes(appliance);

type Follows = (appliance: string, window: CoveringWindow) => boolean;

/** For each alert, whether its present cause follows from the members in a window. */
const FOLLOWS: Readonly<Record<MemberAlert, Follows>> = {
  ApplianceDown: isCovered,
  ApplianceRefused: isCovered,
  ApplianceApiAnomalies: isCovered,
  VrrpNotServing: isCovered,
  VrrpOddState: isCovered,
  WebsitesUnwatched: isCovered,
  FailoverNotReady: (appliance, window) => {
    if (window.isWhole) return true;
    const readiness = window.verdict.readiness.get(appliance);
    const lost = readiness === undefined ? [] : risksApart(readiness);
    return lost.length > 0 && lost.every(({ successor }) => isCovered(successor, window));
  },
  VrrpMasterUnknown: (_, window) =>
    window.isWhole ||
    [...window.verdict.groups.values()].every(
      (group) =>
        group.problem === undefined ||
        mutedWith(group.problem) !== "VrrpMasterUnknown" ||
        isMasterRenewed(group, window),
    ),
  VrrpRedundancyLost: (_, window) =>
    [...window.verdict.groups.values()].every(({ problem, facts, master }) => {
      if (problem !== "redundancy_lost" && problem !== "backup_unknown") return true;
      const backups = membersIn(facts, "backup");
      const missing = [...facts.members, ...facts.left].filter(
        ({ appliance }) => appliance !== master && !backups.includes(appliance),
      );
      return missing.every(({ appliance }) => isCovered(appliance, window));
    }),
  VrrpPreferredMasterLost: (_, window) =>
    [...window.verdict.groups.values()].every(({ isPreferredMaster, facts, master = "" }) => {
      const concerned = [master, ...preferredIn(facts)];
      return isPreferredMaster !== false || concerned.some((name) => isCovered(name, window));
    }),
  WebsitePartiallyDown: (_, window) =>
    [...window.verdict.websites.values()].every((website) =>
      partiallyDownAt(website).every((name) => isCovered(name, window)),
    ),
  WebsiteBackendDown: (_, window) =>
    [...window.verdict.websites.values()].every(
      (website) =>
        website.backends !== "some_down" ||
        failingBackendsAt(website).every((name) => isCovered(name, window)),
    ),
};

/** What a member answers while its certificate or its password is renewed. */
const RENEWED: ReadonlySet<FailureReason> = new Set(["auth", "tls"]);

/**
 * Whether nothing but the renewal of its certificate or password hides the MASTER of a group: a member in the window, which was MASTER until it
 * began to refuse the exporter, within the window, while each other member goes on as BACKUP.
 */
function isMasterRenewed({ facts, latestMaster = "" }: GroupVerdict, given: CoveringWindow): boolean {
  const { window, verdict } = given;
  const { vrrp } = verdict.facts.appliances.find(({ identity }) => identity.appliance === latestMaster) ?? {};
  const { failure, failingSinceMs = Number.NEGATIVE_INFINITY } = vrrp?.health ?? {};
  const isRefused = failure !== undefined && RENEWED.has(failure.reason) && failingSinceMs >= window.beginMs;
  const wasMaster = answersIn(facts, latestMaster).at(-1)?.isMaster === true;
  const backups = membersIn(facts, "backup");
  const others = [...facts.members, ...facts.left].filter(({ appliance }) => appliance !== latestMaster);
  return (
    isCovered(latestMaster, given) &&
    isRefused &&
    wasMaster &&
    others.every(({ appliance }) => backups.includes(appliance))
  );
}

function handoversOf(
  running: readonly CoveringWindow[],
  given: WindowInputs,
): Pick<WindowVerdict, "masters" | "notHandedOver"> {
  const { verdict, before } = given;
  const windows = running.filter(({ isWhole }) => !isWhole);
  const groups = [...verdict.groups.values()];
  const names = [...new Set(windows.flatMap(({ members }) => members))];
  const masters = names.flatMap((appliance) => {
    const own = groups.filter((group) => group.masters.includes(appliance));
    const addresses = hostsAt(own.map(({ facts }) => facts)).size;
    const all = [...new Set(own.flatMap((group) => group.masters))];
    return addresses === 0 ? [] : [{ appliance, addresses, masters: all.length > 1 ? all : undefined }];
  });
  const wasLost = (name: string): boolean =>
    before?.planned?.notHandedOver.includes(name) === true ||
    groups.some((group) => isWithoutMasterSince(name, group)) ||
    (isLostSince(name, windows, given) && groups.some(({ facts }) => fellSilent(name, facts, verdict))) ||
    wasLostBefore(name, windows, given);
  const notHandedOver = names.filter(
    (name) => verdict.appliances.get(name)?.state === "down" && wasLost(name),
  );
  return { masters, notHandedOver };
}

/** Whether nobody is MASTER of a group since an appliance was, which has reported nothing else since. */
function isWithoutMasterSince(name: string, { facts, master, latestMaster }: GroupVerdict): boolean {
  if (master !== undefined || latestMaster !== name) return false;
  // An appliance that was not seen since the start of the exporter is MASTER by what an earlier run knew.
  return answersIn(facts, name).at(-1)?.isMaster ?? true;
}

/** Whether an appliance was MASTER of a group until it fell silent, and was not handed over before. */
function fellSilent(name: string, facts: GroupSnapshot, { facts: { appliances } }: ClusterVerdict): boolean {
  const vrrp = appliances.find(({ identity }) => identity.appliance === name)?.vrrp;
  const others = membersIn(facts, "master").filter((each) => each !== name);
  const seen = others.flatMap((each) => masterSeenMs(answersIn(facts, each)) ?? []);
  return vrrp !== undefined && fellSilentAsMaster(answersIn(facts, name), vrrp, Math.min(...seen));
}

/** Whether an appliance fell silent in a window that covers it. */
function isLostSince(
  name: string,
  windows: readonly CoveringWindow[],
  { verdict, at }: WindowInputs,
): boolean {
  const { vrrp } = verdict.facts.appliances.find(({ identity }) => identity.appliance === name) ?? {};
  const { lostSinceMs } = vrrp ?? {};
  if (lostSinceMs === undefined) return false;
  const wallMs = at.wallMs - (at.monotonicMs - lostSinceMs);
  return windows.some(({ window, members }) => members.includes(name) && wallMs >= window.beginMs);
}

/** Whether an appliance fell silent as MASTER in a window that covers it, and the exporter was started since. */
function wasLostBefore(name: string, windows: readonly CoveringWindow[], { memory }: WindowInputs): boolean {
  const { isLostMaster, sinceMs } = memory?.get(subjectKeys.appliance(name)) ?? {};
  if (isLostMaster !== true || sinceMs === undefined) return false;
  return windows.some(({ window, members }) => members.includes(name) && sinceMs >= window.beginMs);
}
