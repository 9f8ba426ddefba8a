import type { Failure } from "../client/failure.ts";
import type { Observation } from "../polling/observation.ts";
import type { FleetChange } from "./changes.ts";
import type { PollHealth } from "./snapshot.ts";

/** What is known of one operation: how its latest poll went, and what was last seen. Immutable. */
export interface OperationRecord<Seen> {
  readonly health: PollHealth;
  /** The monotonic instant from which polling counts as stalled; never once it does. */
  readonly expiresAtMs: number;
  /** The monotonic instant from which the latest answer does not count; `undefined` while it does. */
  readonly silentSinceMs: number | undefined;
  /** Why the latest poll failed that was sent, or that this host could not send; `undefined` if it succeeded. */
  readonly failing: Failure | undefined;
  /** Of the latest valid answer, whatever failed since; `undefined` before the first. */
  readonly seen: Seen | undefined;
}

/** What is known after one more poll, and what that poll has changed. */
export interface Step<State> {
  readonly state: State;
  readonly changes: readonly FleetChange[];
}

/** `before`, `now`: the record of the operation that was polled. */
export interface OperationStep<State> extends Step<State> {
  readonly before: OperationRecord<unknown>;
  readonly now: OperationRecord<unknown>;
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
    silentSinceMs: expiresAtMs,
    failing: undefined,
    seen: undefined,
  };
}

export function afterSuccess<Record extends OperationRecord<unknown>>(
  record: Record,
  { durationSeconds, expiresAtMs, completedAtMs: lastSuccessAtMs }: Observation,
  seen: Record["seen"],
): Record {
  const health = { ...NEVER_POLLED, state: "succeeded", durationSeconds, lastSuccessAtMs } as const;
  return { ...record, health, expiresAtMs, silentSinceMs: undefined, failing: undefined, seen };
}

export function afterFailure<Record extends OperationRecord<unknown>>(
  record: Record,
  { durationSeconds, expiresAtMs, completedAtMs }: Observation,
  failure: Failure,
  nowMs: number,
): Record {
  const { lastSuccessAtMs, failingSinceMs = completedAtMs } = record.health;
  const health = { state: "failed", failure, durationSeconds, lastSuccessAtMs, failingSinceMs } as const;
  const silentSinceMs = Math.min(nowMs, record.silentSinceMs ?? nowMs);
  const wasTried = durationSeconds !== undefined || failure.reason === "local";
  return { ...record, health, expiresAtMs, silentSinceMs, failing: wasTried ? failure : record.failing };
}

/** The record at the monotonic instant `nowMs`: an expired one has failed as `stalled`. */
export function recordAt<Record extends OperationRecord<unknown>>(record: Record, nowMs: number): Record {
  const { expiresAtMs, silentSinceMs = expiresAtMs } = record;
  if (nowMs < expiresAtMs) return record;
  const health = { ...record.health, state: "failed", failure: STALLED } as const;
  return { ...record, health, expiresAtMs: Number.POSITIVE_INFINITY, silentSinceMs };
}

/** No value outlives its poll: what was seen is true only while the latest poll succeeded. */
export function whileKnown<Seen>(record: OperationRecord<Seen> | undefined): Seen | undefined {
  return record?.health.state === "succeeded" ? record.seen : undefined;
}
