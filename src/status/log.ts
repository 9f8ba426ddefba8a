import { operationKey } from "../api/operations.ts";
import type { FleetChange } from "../fleet/changes.ts";
import type { Observation } from "../polling/observation.ts";
import type { Logger } from "../support/log.ts";
import type { FleetEvent } from "./schema.ts";

const MAX_LINES = 20;

/** Logs events of one cluster, a line for each of the first 20, outages as warnings: an appliance may invent states at each poll. */
export function logEvents(logger: Logger, events: readonly FleetEvent[]): void {
  for (const { kind, cluster, summary } of events.slice(0, MAX_LINES))
    logger[kind === "outage" ? "warn" : "info"]({ cluster, kind, summary }, "event");
  const count = events.length - MAX_LINES;
  if (count > 0) logger.info({ cluster: events[0]?.cluster, count }, "more events");
}

/**
 * Logs the changes of an observation that its events do not say, at most 20 state changes, and the poll itself at debug.
 * `cluster`: the one of the appliance; `undefined` for an appliance that is gone.
 */
export function logObservation(
  logger: Logger,
  cluster: string | undefined,
  observation: Observation,
  changes: readonly FleetChange[],
): void {
  const { appliance, outcome, durationSeconds } = observation;
  const result = outcome.ok ? "success" : outcome.failure.reason;
  const where = { cluster, appliance };
  logger.debug({ ...where, operation: operationKey(observation), result, durationSeconds }, "poll completed");
  const states = changes.filter(({ kind }) => kind === "vrrp_state");
  const others = changes.filter(({ kind }) => kind !== "vrrp_state");
  for (const change of [...states.slice(0, MAX_LINES), ...others]) logChange(logger, where, change);
  const count = states.length - MAX_LINES;
  if (count > 0) logger.info({ ...where, count }, "more vrrp states changed");
}

function logChange(logger: Logger, where: object, { kind, ...facts }: FleetChange): void {
  if ("failure" in facts) {
    const { reason, message: detail } = facts.failure;
    const level = reason === "unsupported" ? "info" : "warn";
    logger[level]({ ...where, operation: operationKey(facts.operation), reason, detail }, "polling fails");
  } else if ("operation" in facts) {
    // The event of the appliance says that its list is polled again.
    if (facts.operation.kind === "vrrp") return;
    const from = facts.from.reason;
    logger.info({ ...where, operation: operationKey(facts.operation), from }, "polling recovered");
  } else if (kind === "vrrp_state" || kind === "website_status") {
    const message = kind === "vrrp_state" ? "vrrp state changed" : "website status changed";
    logger.info({ ...where, ...facts }, message);
  }
}
