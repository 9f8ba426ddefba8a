import type { WebsiteDetails } from "../api/website-details.ts";
import type { WebsiteList } from "../api/website-list.ts";
import type { Failure } from "../client/failure.ts";
import type { Observation } from "../polling/observation.ts";
import { unsent } from "../polling/poll.ts";
import type { PollHealth } from "./snapshot.ts";

/** Holds what is known of one operation: how its latest poll went, and what was last seen. Immutable. Instants are monotonic. */
export interface OperationRecord<Seen> {
  readonly health: PollHealth;
  /** The instant from which polling counts as stalled; infinite once it does. */
  readonly expiresAtMs: number;
  /** The instant from which the latest answer does not count; `undefined` while it does. */
  readonly silentSinceMs: number | undefined;
  /** Why the latest poll failed that was sent, or that this host could not send; `undefined` if it succeeded. */
  readonly failing: Failure | undefined;
  /** The value of the latest valid answer, whatever failed since; `undefined` before the first. */
  readonly seen: Seen | undefined;
  /** That value while it is true: no value outlives its poll, so only while the latest poll succeeded. */
  readonly found: Seen | undefined;
  /** Why the health is a failure although the latest poll succeeded: how that poll went. It counts again once the appliance answers. */
  readonly suspended?: PollHealth | undefined;
}

/** Holds what an appliance says of its websites. */
export interface DiscoveryRecords {
  readonly list: OperationRecord<WebsiteList>;
  /** The records of the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: ReadonlyMap<number, OperationRecord<WebsiteDetails>>;
  /** The ids of these records in the first valid list; `undefined` before that. */
  readonly first: ReadonlySet<number> | undefined;
}

const NEVER_POLLED: PollHealth = {
  state: "pending",
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
    found: undefined,
  };
}

/** The record after one more poll, received at the monotonic instant `nowMs`; `seen`: in a valid answer; `undefined` on failure. */
export function afterPoll<Record extends OperationRecord<unknown>>(
  record: Record,
  { outcome, durationSeconds, expiresAtMs, completedAtMs }: Observation,
  nowMs: number,
  seen: Record["seen"],
): Record {
  if (outcome.ok) {
    const lastSuccessAtMs = completedAtMs;
    const health = { ...NEVER_POLLED, state: "succeeded", durationSeconds, lastSuccessAtMs } as const;
    const known = { expiresAtMs, silentSinceMs: undefined, suspended: undefined };
    return { ...record, ...known, health, failing: undefined, seen, found: seen };
  }
  const { failure } = outcome;
  const { lastSuccessAtMs, failingSinceMs = completedAtMs } = record.health;
  const health = { state: "failed", failure, durationSeconds, lastSuccessAtMs, failingSinceMs } as const;
  const silentSinceMs = Math.min(nowMs, record.silentSinceMs ?? nowMs);
  const wasTried = durationSeconds !== undefined || failure.reason === "local";
  const unknown = { expiresAtMs, silentSinceMs, suspended: undefined, found: undefined };
  return { ...record, ...unknown, health, failing: wasTried ? failure : record.failing };
}

/** The record at the monotonic instant `nowMs`: an expired one has failed as `stalled`. */
export function recordAt<Record extends OperationRecord<unknown>>(record: Record, nowMs: number): Record {
  const { expiresAtMs, silentSinceMs = expiresAtMs } = record;
  if (nowMs < expiresAtMs) return record;
  const health = { ...record.health, state: "failed", failure: STALLED } as const;
  const unknown = { expiresAtMs: Number.POSITIVE_INFINITY, suspended: undefined, found: undefined };
  return { ...record, ...unknown, health, silentSinceMs };
}

/**
 * The record after a poll of its appliance's VRRP list. A successful answer from before the appliance was out of reach does not
 * count until the list says that the appliance answers again. `downSinceMs`: the Unix time since which the appliance is out of reach.
 */
export function whileReachable<Record extends OperationRecord<unknown>>(
  record: Record,
  downSinceMs: number | undefined,
): Record {
  const { health, suspended } = record;
  if (downSinceMs === undefined)
    return suspended === undefined
      ? record
      : { ...record, health: suspended, suspended: undefined, found: record.seen };
  if (health.state !== "succeeded") return record;
  const failed = { state: "failed", failure: unsent("appliance_down"), durationSeconds: undefined } as const;
  const unknown = { health: { ...health, ...failed, failingSinceMs: downSinceMs }, found: undefined };
  return { ...record, ...unknown, suspended: health };
}

/** Whether the appliance has no such website. Firmware without details says so of every website. */
export function isGone(record: OperationRecord<unknown> | undefined): boolean {
  return record?.failing?.isGone === true;
}
