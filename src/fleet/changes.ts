import type { Protocol } from "../api/website-test.ts";
import type { Failure } from "../client/failure.ts";
import { operationKey, type Operation } from "../api/operations.ts";
import type { Observation } from "../polling/observation.ts";
import type { Logger } from "../support/log.ts";

/** What an observation has changed. */
export type FleetChange =
  | {
      readonly kind: "vrrp_state";
      readonly interface: string;
      readonly vhid: number;
      readonly vip: string;
      readonly from: string;
      readonly to: string;
    }
  | {
      readonly kind: "website_status";
      readonly websiteId: number;
      readonly website: string;
      readonly protocol: Protocol;
      readonly from: number;
      readonly to: number;
      /** Why there was no HTTP response, in the words of the appliance. */
      readonly text?: string;
    }
  /** An operation began to fail, or fails for another reason now. */
  | { readonly kind: "failing"; readonly operation: Operation; readonly failure: Failure }
  /** `from`: why it failed until now. */
  | { readonly kind: "recovered"; readonly operation: Operation; readonly from: Failure }
  /** The appliance describes a website in another way; `address`: host and port until now. */
  | { readonly kind: "website_changed"; readonly address: string };

/** What is known after one more poll, and what that poll has changed. */
export interface Step<State> {
  readonly state: State;
  readonly changes: readonly FleetChange[];
}

const MAX_LINES = 20;

/** Logs the changes of an observation, at most 20 state changes, and the poll itself at debug. */
export function logObservation(
  logger: Logger,
  observation: Observation,
  changes: readonly FleetChange[],
): void {
  const { appliance, outcome, durationSeconds } = observation;
  const result = outcome.ok ? "success" : outcome.failure.reason;
  logger.debug(
    { appliance, operation: operationKey(observation), result, durationSeconds },
    "poll completed",
  );
  const unlogged = new Set(changes.filter(({ kind }) => kind === "vrrp_state").slice(MAX_LINES));
  for (const change of changes) if (!unlogged.has(change)) logChange(logger, appliance, change);
  if (unlogged.size > 0) logger.info({ appliance, count: unlogged.size }, "more vrrp states changed");
}

function logChange(logger: Logger, appliance: string, { kind, ...facts }: FleetChange): void {
  if ("failure" in facts) {
    const { reason, message: detail } = facts.failure;
    const level = reason === "unsupported" ? "info" : "warn";
    logger[level]({ appliance, operation: operationKey(facts.operation), reason, detail }, "polling fails");
  } else if ("operation" in facts) {
    const from = facts.from.reason;
    logger.info({ appliance, operation: operationKey(facts.operation), from }, "polling recovered");
  } else if (kind === "vrrp_state" || kind === "website_status") {
    const message = kind === "vrrp_state" ? "vrrp state changed" : "website status changed";
    logger.info({ appliance, ...facts }, message);
  }
}
