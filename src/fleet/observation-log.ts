import type { FleetChange } from "./changes.ts";
import type { Logger } from "../support/log.ts";
import { operationKey, type Observation } from "../polling/observation.ts";

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
  const states = changes.filter(({ kind }) => kind === "vrrp_state");
  const logged = states.slice(0, MAX_LINES);
  for (const change of [...changes.filter(({ kind }) => kind !== "vrrp_state"), ...logged])
    logChange(logger, appliance, change);
  const count = states.length - logged.length;
  if (count > 0) logger.info({ appliance, count }, "more vrrp states changed");
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
