import type { VrrpAnomalyKind, VrrpList } from "../api/vrrp-list.ts";
import type { Protocol } from "../api/website-test.ts";
import type { Failure } from "../client/failure.ts";
import type { Observation } from "../polling/observation.ts";
import type { WebsiteStatus } from "../api/website-test.ts";
import type { Outcome } from "../client/failure.ts";
import { reportsOf, type GroupReports } from "./groups.ts";
import { masteryChanges } from "./mastery.ts";
import type { PollHealth } from "./snapshot.ts";
import {
  afterVrrpList,
  afterWebsiteTest,
  type SeenInterface,
  type SeenStatus,
  type StatusChange,
  type Transition,
} from "./transitions.ts";

/** What is remembered of one operation: how its latest poll went, and what was last seen. Immutable. */
export interface OperationRecord<Seen> {
  readonly latest: Latest | undefined;
  /** The monotonic instant from which polling counts as stalled. */
  readonly expiresAtMs: number;
  /** Unix time in milliseconds. */
  readonly lastSuccessAtMs: number | undefined;
  /** When the first of the failures in a row ended, Unix time in milliseconds; `undefined` while it does not fail. */
  readonly failingSinceMs: number | undefined;
  /** Of the last good answer, whatever failed since; `undefined` before the first. */
  readonly seen: Seen | undefined;
}

interface Latest {
  readonly failure: Failure | undefined;
  /** `undefined` where nothing was sent. */
  readonly durationSeconds: number | undefined;
}

export interface SeenVrrp {
  readonly interfaces: readonly SeenInterface[];
  readonly reports: GroupReports;
  readonly anomalies: Readonly<Record<VrrpAnomalyKind, number>>;
  /** The monotonic instant at which this was learned. */
  readonly learnedAtMs: number;
  /** For how long it counts: two intervals (or two gaps of the schedule) and one timeout. */
  readonly countsForMs: number;
  /** By group, the monotonic instant at which the appliance was last seen to become its MASTER or to cease to be. */
  readonly masteryChangedAtMs: ReadonlyMap<string, number>;
}

export type VrrpRecord = OperationRecord<SeenVrrp>;
export interface SeenWebsite {
  readonly statuses: readonly SeenStatus[];
  /** All by which a status was ever seen. */
  readonly protocols: readonly Protocol[];
}

export type WebsiteRecord = OperationRecord<SeenWebsite>;

/** An operation that was never polled; it counts as stalled if it is not by `expiresAtMs`. */
export function freshRecord(expiresAtMs: number): OperationRecord<never> {
  return {
    latest: undefined,
    expiresAtMs,
    lastSuccessAtMs: undefined,
    failingSinceMs: undefined,
    seen: undefined,
  };
}

export function afterVrrpPoll(
  record: VrrpRecord,
  observation: Observation,
  outcome: Outcome<VrrpList>,
  nowMs: number,
): { readonly record: VrrpRecord; readonly transitions: readonly Transition[] } {
  if (!outcome.ok) return { record: afterFailure(record, observation, outcome.failure), transitions: [] };
  const before = record.seen?.interfaces ?? [];
  const { seen, transitions } = afterVrrpList(before, outcome.value, observation.completedAtMs);
  const anomalies = countAnomalies(outcome.value);
  const reports = reportsOf(seen);
  const countsForMs = observation.expiresAtMs - nowMs;
  const masteryChangedAtMs = masteryChanges(record.seen, reports, nowMs, countsForMs);
  const all = { interfaces: seen, reports, anomalies, learnedAtMs: nowMs, countsForMs, masteryChangedAtMs };
  return { record: afterSuccess(observation, all), transitions };
}

export function afterWebsitePoll(
  record: WebsiteRecord,
  observation: Observation,
  outcome: Outcome<readonly WebsiteStatus[]>,
  isUp: (status: number) => boolean,
): { readonly record: WebsiteRecord; readonly changes: readonly StatusChange[] } {
  if (!outcome.ok) return { record: afterFailure(record, observation, outcome.failure), changes: [] };
  const before = record.seen ?? { statuses: [], protocols: [] };
  const { seen: statuses, changes } = afterWebsiteTest(before.statuses, outcome.value, {
    isUp,
    atMs: observation.completedAtMs,
  });
  const protocols = [...new Set([...before.protocols, ...statuses.map(({ protocol }) => protocol)])];
  return { record: afterSuccess(observation, { statuses, protocols }), changes };
}

/** How the latest poll went, judged at the monotonic instant `nowMs`: an expired one has failed as `stalled`. */
export function healthAt<Seen>(record: OperationRecord<Seen>, nowMs: number): PollHealth {
  const { latest, lastSuccessAtMs, failingSinceMs } = record;
  const durationSeconds = latest?.durationSeconds;
  const failure = isStalled(record, nowMs) ? STALLED : latest?.failure;
  const facts = { failure, durationSeconds, lastSuccessAtMs, failingSinceMs };
  if (failure !== undefined) return { state: "failed", ...facts };
  return { state: latest === undefined ? "never_polled" : "succeeded", ...facts };
}

export function isStalled<Seen>({ expiresAtMs }: OperationRecord<Seen>, nowMs: number): boolean {
  return nowMs >= expiresAtMs;
}

const STALLED: Failure = { reason: "stalled", message: "no poll has completed for too long" };

function afterSuccess<Seen>(observation: Observation, seen: Seen): OperationRecord<Seen> {
  const { durationSeconds, expiresAtMs, completedAtMs } = observation;
  return {
    latest: { failure: undefined, durationSeconds },
    expiresAtMs,
    lastSuccessAtMs: completedAtMs,
    failingSinceMs: undefined,
    seen,
  };
}

function afterFailure<Seen>(
  record: OperationRecord<Seen>,
  { durationSeconds, expiresAtMs, completedAtMs }: Observation,
  failure: Failure,
): OperationRecord<Seen> {
  const { failingSinceMs = completedAtMs } = record;
  return { ...record, latest: { failure, durationSeconds }, expiresAtMs, failingSinceMs };
}

function countAnomalies({ anomalies }: VrrpList): Record<VrrpAnomalyKind, number> {
  const count = (kind: VrrpAnomalyKind): number =>
    anomalies.filter((anomaly) => anomaly.kind === kind).length;
  return {
    unknown_state: count("unknown_state"),
    advskew_mismatch: count("advskew_mismatch"),
    bad_interface: count("bad_interface"),
    bad_field: count("bad_field"),
  };
}
