import type { OperationKind } from "../api/operation.ts";
import { pendingIn, type ApplianceSnapshot } from "../fleet/snapshot.ts";
import { groupBy } from "../../support/group-by.ts";
import { count, listed } from "../../support/text.ts";
import { minuteInUtc } from "../../support/time-zone.ts";
import { isPlanned } from "./judge-windows.ts";
import type { Problem } from "./problem.ts";
import { NO_NAMES, PROBLEMS, type ProblemKind } from "./states.ts";
import type { ApplianceVerdict, ClusterVerdict } from "./verdict.ts";
import { FEW, NAMED, optionalInstant, reasonInWords } from "./words.ts";

/** What the exporter knows of polls that do not start when they are due. */
export interface Late {
  /** The Unix time in milliseconds at which this began. */
  readonly sinceMs: number;
  /** The operation whose polls are late; `undefined` if polls are skipped. */
  readonly operation: OperationKind | undefined;
  /** The polls of the operation that started late in the last five minutes, or those that were skipped. */
  readonly count: number;
  /** The average lateness of these; `undefined` if they were skipped. */
  readonly meanSeconds: number | undefined;
}

/** Why the journal cannot be written. */
export interface StorageFailure {
  /** The error in the words of the system. */
  readonly detail: string;
  /** The Unix time in milliseconds since which nothing can be written. */
  readonly sinceMs: number;
}

/** What the exporter knows of itself, as Unix times in milliseconds. */
export interface OwnFacts {
  /** The time at which the configuration could not be loaded; `undefined` if it was loaded since. */
  readonly reloadFailedAtMs: number | undefined;
  /** The time at which the configuration in use was loaded. */
  readonly loadedAtMs: number;
  /** Why the journal cannot be written; `undefined` if it can, or if there is none. */
  readonly storageFailure: StorageFailure | undefined;
  readonly late: Late | undefined;
}

/** From this number on, appliances that cannot be polled are a fault at the exporter's side, if they are more than half. */
const MANY = 3;

/** Returns the problems of the exporter itself, which are those of no cluster. */
export function ownProblems(
  clusters: readonly ClusterVerdict[],
  { loadedAtMs, reloadFailedAtMs, storageFailure, late }: Partial<OwnFacts>,
): readonly Problem[] {
  return [
    ...blind(clusters),
    ...(late === undefined ? [] : own("polls_late", lateWords(late, clusters), late.sinceMs)),
    ...(reloadFailedAtMs === undefined
      ? []
      : own(
          "reload_failed",
          `The exporter runs on the configuration of ${minuteInUtc(loadedAtMs ?? reloadFailedAtMs)}: the new one has an error`,
          reloadFailedAtMs,
        )),
    ...(storageFailure === undefined
      ? []
      : own(
          "storage_failing",
          `The exporter cannot write its journal: ${reasonIn(storageFailure)}`,
          storageFailure.sinceMs,
        )),
    ...notPolledYet(clusters),
  ];
}

/** Returns `no space left on device`, without the code and the path. */
function reasonIn({ detail }: StorageFailure): string {
  return /^[A-Z0-9_]+: ([^,]+)/.exec(detail)?.[1] ?? "it will not remember what happens now";
}

function own(kind: ProblemKind, summary: string, sinceMs?: number): readonly Problem[] {
  const { severity, advice } = PROBLEMS[kind];
  return [{ kind, severity, summary, advice: advice(NO_NAMES), since: optionalInstant(sinceMs) }];
}

interface JudgedAppliance {
  readonly verdict: ApplianceVerdict;
  readonly facts: ApplianceSnapshot | undefined;
  readonly isWorkedOn: boolean;
}

/** Returns a problem if most appliances cannot be polled at once, those that are worked on not counted. */
function blind(clusters: readonly ClusterVerdict[]): readonly Problem[] {
  const polled = clusters.flatMap(({ appliances, facts, planned }) =>
    Array.from(appliances.values(), (verdict): JudgedAppliance => {
      const { appliance } = verdict.identity;
      return {
        verdict,
        facts: facts.appliances.find(({ identity }) => identity.appliance === appliance),
        isWorkedOn: isPlanned(planned, { kind: "appliance_down", appliance }),
      };
    }),
  );
  const counted = polled.filter(
    ({ verdict: { state }, isWorkedOn }) => state === "up" || (state !== undefined && !isWorkedOn),
  );
  const missed = counted.filter(({ verdict }) => verdict.state !== "up");
  if (missed.length < MANY || missed.length * 2 <= counted.length) return [];
  const reasons = groupBy(missed, ({ facts }) => facts?.vrrp.health.failure?.reason ?? "internal");
  const why = Array.from(reasons, ([reason, all]) =>
    reasons.size === 1
      ? reasonInWords(reason, { isPlural: true })
      : `for ${all.length} ${reasonInWords(reason, { isPlural: true })}`,
  );
  const summary = `The exporter reaches ${counted.length - missed.length} of ${count(counted.length, "appliance")}: ${listed(why, NAMED)}`;
  return own("exporter_blind", summary, blindSinceMs(missed, counted.length));
}

/** Returns when so many could not be polled that they were most; `undefined` if that was before their beginnings are known. */
function blindSinceMs(missed: readonly JudgedAppliance[], total: number): number | undefined {
  const needed = Math.max(MANY, Math.floor(total / 2) + 1);
  const begun = missed.map(({ verdict }) => verdict.sinceMs ?? Number.NEGATIVE_INFINITY);
  const atMs = begun.toSorted((one, other) => one - other)[needed - 1];
  return atMs === undefined || atMs === Number.NEGATIVE_INFINITY ? undefined : atMs;
}

/**
 * Returns one problem for all appliances that cannot be polled by a fault at the exporter's side. Clusters have a problem for each of them,
 * which says where nobody watches.
 */
export function stuckProblem(clusters: readonly ClusterVerdict[]): readonly Problem[] {
  const stuck = clusters.flatMap(({ appliances }) =>
    [...appliances.values()].filter(({ problems }) => problems.includes("polling_stuck")),
  );
  if (stuck.length === 0) return [];
  const names = listed(
    stuck.map(({ identity }) => identity.appliance),
    FEW,
  );
  const since = stuck.map(({ sinceMs }) => sinceMs ?? Number.NaN);
  return own(
    "polling_stuck",
    `The exporter cannot poll ${names}, by a fault at its own side`,
    Math.min(...since),
  );
}

function lateWords(
  { operation, count: late, meanSeconds = 0 }: Late,
  clusters: readonly ClusterVerdict[],
): string {
  const all = clusters.flatMap(({ facts }) => facts.appliances);
  const took = all.map(({ identity: { appliance }, vrrp: { health } }) => {
    return { appliance, seconds: health.durationSeconds ?? 0 };
  });
  const [slowest] = took.toSorted((one, other) => other.seconds - one.seconds);
  const what =
    operation === undefined
      ? `${late} polls were skipped in 5 minutes`
      : `${operation === "vrrp" ? "Polls of VRRP lists" : "Website tests"} start late, by ${meanSeconds.toFixed(1)} s on average`;
  return slowest === undefined
    ? what
    : `${what}; the slowest appliance is ${slowest.appliance} (${slowest.seconds.toFixed(1)} s)`;
}

function notPolledYet(clusters: readonly ClusterVerdict[]): readonly Problem[] {
  const pending = clusters.flatMap(({ facts }) => pendingIn(facts));
  const [first] = pending;
  if (first === undefined) return [];
  const who = pending.length === 1 ? first : `${pending.length} appliances`;
  return own("not_polled_yet", `Not everything of ${who} was polled yet`);
}
