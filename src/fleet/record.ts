import type { Failure } from "../client/failure.ts";
import type { Observation } from "../polling/observation.ts";
import type { FleetChange } from "./changes.ts";
import type { PollHealth } from "./snapshot.ts";

/** What is known of one operation: how its latest poll went, and what was last seen. Immutable. */
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

/** The record after one more poll, and what that poll changed in the facts that the operation is about. */
export interface RecordStep<Record> {
  readonly record: Record;
  readonly changes: readonly FleetChange[];
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

export function afterSuccess<Seen>(observation: Observation, seen: Seen): OperationRecord<Seen> {
  const { durationSeconds, expiresAtMs, completedAtMs } = observation;
  return {
    latest: { failure: undefined, durationSeconds },
    expiresAtMs,
    lastSuccessAtMs: completedAtMs,
    failingSince: undefined,
    seen,
  };
}

export function afterFailure<Record extends OperationRecord<unknown>>(
  record: Record,
  { durationSeconds, expiresAtMs, completedAtMs }: Observation,
  failure: Failure,
  nowMs: number,
): Record {
  const first = { wallMs: completedAtMs, monotonicMs: Math.min(nowMs, record.expiresAtMs) };
  const { failingSince = first } = record;
  return { ...record, latest: { failure, durationSeconds }, expiresAtMs, failingSince };
}

/** How the latest poll went, judged at the monotonic instant `nowMs`: an expired one has failed as `stalled`. */
export function healthAt(record: OperationRecord<unknown>, nowMs: number): PollHealth {
  const { latest, lastSuccessAtMs, failingSince } = record;
  const durationSeconds = latest?.durationSeconds;
  const failure = isStalled(record, nowMs) ? STALLED : latest?.failure;
  const facts = { failure, durationSeconds, lastSuccessAtMs, failingSinceMs: failingSince?.wallMs };
  if (failure !== undefined) return { state: "failed", ...facts };
  return { state: latest === undefined ? "never_polled" : "succeeded", ...facts };
}

const STALLED: Failure = { reason: "stalled", message: "no poll has completed for too long" };

export function isStalled({ expiresAtMs }: OperationRecord<unknown>, nowMs: number): boolean {
  return nowMs >= expiresAtMs;
}

/** The monotonic instant from which the latest answer does not count; `undefined` while it does. */
export function silentSinceMs(record: OperationRecord<unknown>, nowMs: number): number | undefined {
  const { failingSince, latest, expiresAtMs } = record;
  if (failingSince !== undefined) return failingSince.monotonicMs;
  return latest === undefined || isStalled(record, nowMs) ? expiresAtMs : undefined;
}

/** No value outlives its poll: what was seen is true only while the latest poll succeeded. */
export function whileKnown<Seen>({ state }: PollHealth, seen: Seen | undefined): Seen | undefined {
  return state === "succeeded" ? seen : undefined;
}
