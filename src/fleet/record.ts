import type { Failure } from "../client/failure.ts";
import type { Observation } from "../polling/observation.ts";
import type { FleetChange } from "./changes.ts";
import type { PollHealth } from "./snapshot.ts";

/** What is known of one operation: how its latest poll went, and what was last seen. Immutable. */
export interface OperationRecord<Seen> {
  /** Before it is judged whether polling has stalled. */
  readonly health: PollHealth;
  /** The monotonic instant from which polling counts as stalled. */
  readonly expiresAtMs: number;
  /** The monotonic instant from which polls fail; `undefined` while they do not. */
  readonly failingFromMs: number | undefined;
  /** Why the latest poll failed that was sent; `undefined` if it succeeded. */
  readonly sentFailure: Failure | undefined;
  /** Of the latest valid answer, whatever failed since; `undefined` before the first. */
  readonly seen: Seen | undefined;
}

/** The record after one more poll, and what that poll changed in the facts that the operation is about. */
export interface RecordStep<Record> {
  readonly record: Record;
  readonly changes: readonly FleetChange[];
}

const NEVER_POLLED: PollHealth = {
  state: "never_polled",
  failure: undefined,
  durationSeconds: undefined,
  lastSuccessAtMs: undefined,
  failingSinceMs: undefined,
};
const STALLED: Failure = { reason: "stalled", message: "no poll has completed for too long" };

/** An operation that was never polled; it counts as stalled if it is not by `expiresAtMs`. */
export function freshRecord(expiresAtMs: number): OperationRecord<never> {
  return {
    health: NEVER_POLLED,
    expiresAtMs,
    failingFromMs: undefined,
    sentFailure: undefined,
    seen: undefined,
  };
}

export function afterSuccess<Seen>(observation: Observation, seen: Seen): OperationRecord<Seen> {
  const { durationSeconds, expiresAtMs, completedAtMs: lastSuccessAtMs } = observation;
  const health = { ...NEVER_POLLED, state: "succeeded", durationSeconds, lastSuccessAtMs } as const;
  return { health, expiresAtMs, failingFromMs: undefined, sentFailure: undefined, seen };
}

export function afterFailure<Record extends OperationRecord<unknown>>(
  record: Record,
  { durationSeconds, expiresAtMs, completedAtMs }: Observation,
  failure: Failure,
  nowMs: number,
): Record {
  const { lastSuccessAtMs, failingSinceMs = completedAtMs } = record.health;
  const health = { state: "failed", failure, durationSeconds, lastSuccessAtMs, failingSinceMs } as const;
  const failingFromMs = record.failingFromMs ?? Math.min(nowMs, record.expiresAtMs);
  const sentFailure = durationSeconds === undefined ? record.sentFailure : failure;
  return { ...record, health, expiresAtMs, failingFromMs, sentFailure };
}

/** How the latest poll went, judged at the monotonic instant `nowMs`: an expired one has failed as `stalled`. */
export function healthAt(record: OperationRecord<unknown>, nowMs: number): PollHealth {
  return isStalled(record, nowMs) ? { ...record.health, state: "failed", failure: STALLED } : record.health;
}

export function isStalled({ expiresAtMs }: OperationRecord<unknown>, nowMs: number): boolean {
  return nowMs >= expiresAtMs;
}

/** The monotonic instant from which the latest answer does not count; `undefined` while it does. */
export function silentSinceMs(record: OperationRecord<unknown>, nowMs: number): number | undefined {
  const { failingFromMs, health, expiresAtMs } = record;
  if (failingFromMs !== undefined) return failingFromMs;
  return health.state === "never_polled" || isStalled(record, nowMs) ? expiresAtMs : undefined;
}

/** No value outlives its poll: what was seen is true only while the latest poll succeeded. */
export function whileKnown<Seen>({ state }: PollHealth, seen: Seen | undefined): Seen | undefined {
  return state === "succeeded" ? seen : undefined;
}
