import type { WebsiteDetails } from "../api/website-details.ts";
import type { WebsiteList } from "../api/website-list.ts";
import type { Failure } from "../api/failure.ts";
import type { Observation } from "../polling/observation.ts";
import type { Rest } from "../polling/instants.ts";
import { unsent } from "../polling/poll.ts";
import { minuteInUtc } from "../../support/time-zone.ts";
import type { PollHealth } from "./snapshot.ts";

/** The facts about one operation: the health of its latest poll, and the last known value. Immutable. Instants are monotonic. */
export interface OperationFacts<Seen> {
  readonly health: PollHealth;
  /** The instant from which the schedule rests, or else polling counts as stalled; infinite once it does. */
  readonly expiresAtMs: number;
  /** The rest of the schedule that begins at `expiresAtMs`; `undefined` if polling counts as stalled then. */
  readonly rest: Rest | undefined;
  /** The instant from which the latest answer no longer counts; `undefined` while it counts. */
  readonly silentSinceMs: number | undefined;
  /** The failure of the latest poll that was sent, or that this host could not send; `undefined` if that poll succeeded. */
  readonly failing: Failure | undefined;
  /** The value of the latest valid answer, also after later failures; `undefined` before the first. */
  readonly seen: Seen | undefined;
  /** The same value while it is true. No value outlives its poll, so it is there only while the latest poll succeeded. */
  readonly found: Seen | undefined;
  /**
   * The health of the latest poll, if that poll succeeded and the present health is a failure. It counts again once the appliance answers.
   */
  readonly suspended?: PollHealth | undefined;
}

/** The facts about the polls that discover an appliance's websites. */
export interface DiscoveryFacts {
  readonly list: OperationFacts<WebsiteList>;
  /** The facts about the websites that are neither excluded nor beyond the limit, by id. */
  readonly details: ReadonlyMap<number, OperationFacts<WebsiteDetails>>;
  /** The ids of these websites in the first valid list; `undefined` before that. */
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

/** Returns the facts about an operation that was never polled. The operation counts as stalled if it is not polled by `expiresAtMs`. */
export function neverPolled(expiresAtMs: number): OperationFacts<never> {
  return {
    health: NEVER_POLLED,
    expiresAtMs,
    rest: undefined,
    silentSinceMs: expiresAtMs,
    failing: undefined,
    seen: undefined,
    found: undefined,
  };
}

/**
 * Returns the facts after one more poll, received at the monotonic instant `nowMs`. `seen` is the value of a valid answer; `undefined` on
 * failure.
 */
export function afterPoll<Facts extends OperationFacts<unknown>>(
  facts: Facts,
  { outcome, durationSeconds, expiresAtMs, rest, completedAtMs }: Observation,
  nowMs: number,
  seen: Facts["seen"],
): Facts {
  if (outcome.ok) {
    const lastSuccessAtMs = completedAtMs;
    const health = { ...NEVER_POLLED, state: "succeeded", durationSeconds, lastSuccessAtMs } as const;
    const known = { expiresAtMs, rest, silentSinceMs: undefined, suspended: undefined };
    return { ...facts, ...known, health, failing: undefined, seen, found: seen };
  }
  const { failure } = outcome;
  const { lastSuccessAtMs, failingSinceMs = completedAtMs } = facts.health;
  const health = { state: "failed", failure, durationSeconds, lastSuccessAtMs, failingSinceMs } as const;
  const silentSinceMs = Math.min(nowMs, facts.silentSinceMs ?? nowMs);
  const wasTried = durationSeconds !== undefined || failure.reason === "local";
  const unknown = { expiresAtMs, rest, silentSinceMs, suspended: undefined, found: undefined };
  return { ...facts, ...unknown, health, failing: wasTried ? failure : facts.failing };
}

/**
 * Returns the facts at the monotonic instant `nowMs`, at which an expired operation has failed as `stalled`, or as `not_scheduled` while
 * its schedule rests.
 */
export function operationAt<Facts extends OperationFacts<unknown>>(facts: Facts, nowMs: number): Facts {
  const { expiresAtMs, rest, silentSinceMs = expiresAtMs } = facts;
  if (nowMs < expiresAtMs) return facts;
  const failure = rest === undefined ? STALLED : notScheduled(rest);
  const health = { ...facts.health, state: "failed", failure } as const;
  const until = { expiresAtMs: rest?.stalledAtMs ?? Number.POSITIVE_INFINITY, rest: undefined };
  return operationAt(
    { ...facts, ...until, suspended: undefined, found: undefined, health, silentSinceMs },
    nowMs,
  );
}

function notScheduled({ untilMs }: Rest): Failure {
  const message = `no poll is scheduled until ${minuteInUtc(untilMs)}`;
  return { reason: "not_scheduled", message, restsUntilMs: untilMs };
}

/**
 * Returns the facts after a poll of its appliance's VRRP list. A successful answer from before the appliance was out of reach does not
 * count until the list shows that the appliance answers again. `downSinceMs` is the Unix time since which the appliance is out of reach.
 */
export function whileReachable<Facts extends OperationFacts<unknown>>(
  facts: Facts,
  downSinceMs: number | undefined,
): Facts {
  const { health, suspended } = facts;
  if (downSinceMs === undefined)
    return suspended === undefined
      ? facts
      : { ...facts, health: suspended, suspended: undefined, found: facts.seen };
  if (health.state !== "succeeded") return facts;
  const failed = { state: "failed", failure: unsent("appliance_down"), durationSeconds: undefined } as const;
  const unknown = { health: { ...health, ...failed, failingSinceMs: downSinceMs }, found: undefined };
  return { ...facts, ...unknown, suspended: health };
}

/** Whether the appliance has no such website. Firmware without details reports this of every website. */
export function isGone(facts: OperationFacts<unknown> | undefined): boolean {
  return facts?.failing?.isGone === true;
}

/** Whether the appliance has no such website, or lacks the operation. */
export function isAbsent(facts: OperationFacts<unknown> | undefined): boolean {
  return isGone(facts) || facts?.failing?.reason === "unsupported";
}
