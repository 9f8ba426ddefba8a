import { coverageOf, type MaintenanceWindow } from "../maintenance/window.ts";
import type { Instant } from "../../support/clock.ts";
import type { Incident, Failover } from "./incident.ts";
import type { ClusterVerdict, Muted } from "../judge/verdict.ts";

/** The longest time from a failover until the exporter sees it. */
const SEEN_WITHIN_MS = 10_000;

/** A window, the members that it covers, and the failovers of the last five minutes. */
interface WindowFailovers {
  readonly members: readonly string[];
  readonly isOver: boolean;
  /** `isOfWindow` says that the failover follows from the window; `isBack`, that it is one of several there and back. */
  readonly failovers: readonly {
    readonly one: Failover;
    readonly isOfWindow: boolean;
    readonly isBack: boolean;
  }[];
}

/**
 * Returns the alerts about failovers that windows mute. These alerts remember failovers for five minutes, also after the end of a
 * window, so what happened decides, not what is wrong now.
 */
export function mutedFailovers(
  verdict: ClusterVerdict,
  recent: readonly Incident[],
  at: Instant,
): readonly Muted[] {
  const { facts, planned } = verdict;
  const windows = (planned?.allWindows ?? []).flatMap((window) => {
    const coverage = coverageOf(window.scope, facts);
    return coverage === undefined ? [] : windowFailovers({ window, ...coverage, verdict }, recent, at);
  });
  const names = facts.appliances.map(({ identity }) => identity.appliance);
  const muted = names.filter((name) => windows.some((window) => isFailoverMuted(name, names, window)));
  return muted.map((appliance): Muted => ({ alert: "VrrpFailover", appliance }));
}

/** Whether a failover of the last five minutes follows from a window. */
export function isFailoverPlanned(one: Failover, verdict: ClusterVerdict, at: Instant): boolean {
  return (verdict.planned?.allWindows ?? []).some((window) => {
    const coverage = coverageOf(window.scope, verdict.facts);
    return coverage !== undefined && belongsTo(one, { window, ...coverage, verdict }, at);
  });
}

/** Whether a failover of the last five minutes follows from a window, in a cluster of which it covers a part. */
export function hasFailover(
  window: MaintenanceWindow,
  verdict: ClusterVerdict,
  recent: readonly Incident[],
  at: Instant,
): boolean {
  const coverage = recent.length === 0 ? undefined : coverageOf(window.scope, verdict.facts);
  if (coverage === undefined) return false;
  const { failovers } = windowFailovers({ window, ...coverage, verdict }, recent, at);
  return failovers.some((each) => each.isOfWindow);
}

/** A window, the members that it covers, and the verdict on their cluster now. */
interface WindowCase {
  readonly window: MaintenanceWindow;
  readonly members: readonly string[];
  readonly verdict: ClusterVerdict;
}

function belongsTo(one: Failover, given: WindowCase, at: Instant): boolean {
  const { beginMs, endMs } = given.window;
  const seenMs = at.wallMs - (at.monotonicMs - one.seenMs);
  const isWithin = seenMs >= beginMs && seenMs <= endMs + SEEN_WITHIN_MS;
  return isWithin && followsFromWindow(one, given);
}

function windowFailovers(given: WindowCase, recent: readonly Incident[], at: Instant): WindowFailovers {
  const { window, members } = given;
  const failovers = recent.flatMap(({ failover }) => {
    if (failover === undefined) return [];
    const { latest, repeated } = failover;
    const isOfWindow = belongsTo(latest, given, at);
    return [{ one: latest, isOfWindow, isBack: repeated !== undefined }];
  });
  return { members, isOver: window.endMs <= at.wallMs, failovers };
}

/**
 * Whether a failover follows from a window of these members. If a member takes over from another one that failed, the failure was not
 * planned; so it was if the other one is down, and nobody saw why it let go, as the exporter was away.
 */
function followsFromWindow({ from, to, causes }: Failover, { members, verdict }: WindowCase): boolean {
  const isDown = verdict.appliances.get(from)?.state === "down";
  const hasFailed = causes.some(
    ({ cause }) => cause === "silent" || cause === "fault" || (cause === "unknown" && isDown),
  );
  return members.includes(from) || (members.includes(to) && !hasFailed);
}

/** Whether failovers to this appliance are planned. Failovers that happened decide; without any, the possible ones do. */
function isFailoverMuted(
  to: string,
  names: readonly string[],
  { members, isOver, failovers }: WindowFailovers,
): boolean {
  const known = failovers.filter(({ one, isBack }) => one.to === to || (isBack && one.from === to));
  if (known.length > 0) return known.every((each) => each.isOfWindow);
  const isOnlyOther = names.every((name) => name === to || members.includes(name));
  return !isOver && (members.includes(to) || isOnlyOther);
}
