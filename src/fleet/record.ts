import type { VrrpAnomalyKind, VrrpList } from "../api/vrrp-list.ts";
import type { Protocol, WebsiteStatus } from "../api/website-test.ts";
import type { Failure, Outcome } from "../client/failure.ts";
import type { Observation } from "../polling/observation.ts";
import { masterChanges, reportsOf, type SeenGroups } from "./groups.ts";
import type { PollHealth, TestResult } from "./snapshot.ts";
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
  /** When the first of the failures in a row ended; `undefined` while it does not fail. */
  readonly failingSince: { readonly wallMs: number; readonly monotonicMs: number } | undefined;
  /** Of the latest valid answer, whatever failed since; `undefined` before the first. */
  readonly seen: Seen | undefined;
}

interface Latest {
  readonly failure: Failure | undefined;
  /** `undefined` where nothing was sent. */
  readonly durationSeconds: number | undefined;
}

export interface SeenVrrp {
  readonly interfaces: readonly SeenInterface[];
  readonly groups: SeenGroups;
  readonly anomalies: Readonly<Record<VrrpAnomalyKind, number>>;
}

export type VrrpRecord = OperationRecord<SeenVrrp>;

export interface SeenWebsite {
  readonly statuses: readonly SeenStatus[];
  /** All by which a status was ever seen. */
  readonly protocols: readonly Protocol[];
}

export interface WebsiteRecord extends OperationRecord<SeenWebsite> {
  /** What the tests found, by protocol. */
  readonly results: ReadonlyMap<Protocol, Results>;
}

/** What the latest tests of a website found. */
export interface Results {
  readonly latest: TestResult;
  /** The result that counts: `up` at once, any other once two tests in a row are not `up`. */
  readonly confirmed: TestResult;
}

/** An operation that was never polled; it counts as stalled if it is not by `expiresAtMs`. */
export function freshRecord(expiresAtMs: number): OperationRecord<never> {
  return {
    latest: undefined,
    expiresAtMs,
    lastSuccessAtMs: undefined,
    failingSince: undefined,
    seen: undefined,
  };
}

export function afterVrrpPoll(
  record: VrrpRecord,
  observation: Observation,
  outcome: Outcome<VrrpList>,
  nowMs: number,
): { readonly record: VrrpRecord; readonly transitions: readonly Transition[] } {
  if (!outcome.ok)
    return { record: afterFailure(record, observation, outcome.failure, nowMs), transitions: [] };
  const before = record.seen?.interfaces ?? [];
  const { seen: interfaces, transitions } = afterVrrpList(before, outcome.value, observation.completedAtMs);
  const reports = reportsOf(interfaces);
  const groups = {
    reports,
    sentAtMs: observation.sentAtMs ?? nowMs,
    changedAtMs: masterChanges(record.seen?.groups, reports, nowMs),
  };
  const seen = { interfaces, groups, anomalies: countAnomalies(outcome.value) };
  return { record: afterSuccess(observation, seen), transitions };
}

/** How the statuses of a website are judged. */
export interface Expectation {
  /** The protocols of interest; `undefined`: those found in the answers. */
  readonly protocols: readonly Protocol[] | undefined;
  readonly isUp: (status: number) => boolean;
}

export function afterWebsitePoll(
  record: WebsiteRecord,
  observation: Observation,
  outcome: Outcome<readonly WebsiteStatus[]>,
  { protocols: configured, isUp }: Expectation,
  nowMs: number,
): { readonly record: WebsiteRecord; readonly changes: readonly StatusChange[] } {
  const before = record.seen ?? { statuses: [], protocols: [] };
  if (!outcome.ok) {
    const results = resultsAfter(record.results, configured ?? before.protocols, () => "unknown");
    return { record: { ...afterFailure(record, observation, outcome.failure, nowMs), results }, changes: [] };
  }
  const { seen: statuses, changes } = afterWebsiteTest(before.statuses, outcome.value, isUp);
  const protocols = [...new Set([...before.protocols, ...statuses.map(({ protocol }) => protocol)])];
  const results = resultsAfter(record.results, configured ?? protocols, (protocol) => {
    const found = statuses.find((status) => status.protocol === protocol);
    return found === undefined ? "unknown" : isUp(found.status) ? "up" : "down";
  });
  return { record: { ...afterSuccess(observation, { statuses, protocols }), results }, changes };
}

function resultsAfter(
  before: WebsiteRecord["results"],
  protocols: readonly Protocol[],
  resultOf: (protocol: Protocol) => TestResult,
): WebsiteRecord["results"] {
  return new Map(
    protocols.map((protocol) => [protocol, confirmedAfter(before.get(protocol), resultOf(protocol))]),
  );
}

/** The results after one more test. The first test of all counts at once. */
export function confirmedAfter(before: Results | undefined, latest: TestResult): Results {
  const isConfirmed =
    before === undefined ||
    latest === "up" ||
    latest === before.latest ||
    (before.latest !== "up" && before.confirmed === "up");
  return { latest, confirmed: isConfirmed ? latest : before.confirmed };
}

/** How the latest poll went, judged at the monotonic instant `nowMs`: an expired one has failed as `stalled`. */
export function healthAt<Seen>(record: OperationRecord<Seen>, nowMs: number): PollHealth {
  const { latest, lastSuccessAtMs, failingSince } = record;
  const durationSeconds = latest?.durationSeconds;
  const failure = isStalled(record, nowMs) ? STALLED : latest?.failure;
  const facts = { failure, durationSeconds, lastSuccessAtMs, failingSinceMs: failingSince?.wallMs };
  if (failure !== undefined) return { state: "failed", ...facts };
  return { state: latest === undefined ? "never_polled" : "succeeded", ...facts };
}

/** The monotonic instant from which the latest answer does not count; `undefined` while it does. */
export function silentSinceMs<Seen>(record: OperationRecord<Seen>, nowMs: number): number | undefined {
  const { failingSince, latest, expiresAtMs } = record;
  if (failingSince !== undefined) return failingSince.monotonicMs;
  return latest === undefined || isStalled(record, nowMs) ? expiresAtMs : undefined;
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
    failingSince: undefined,
    seen,
  };
}

function afterFailure<Seen>(
  record: OperationRecord<Seen>,
  { durationSeconds, expiresAtMs, completedAtMs }: Observation,
  failure: Failure,
  nowMs: number,
): OperationRecord<Seen> {
  const first = { wallMs: completedAtMs, monotonicMs: Math.min(nowMs, record.expiresAtMs) };
  const { failingSince = first } = record;
  return { ...record, latest: { failure, durationSeconds }, expiresAtMs, failingSince };
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
