import type { FleetChange } from "./changes.ts";
import type { Logger } from "../support/log.ts";
import type { Failure } from "../client/failure.ts";
import { operationKey, type Observation, type Operation } from "../polling/observation.ts";

type Fields = Readonly<Record<string, unknown>>;
type ChangeOf<Kind extends FleetChange["kind"]> = Extract<FleetChange, { kind: Kind }>;

/** State changes to log for each poll; another line counts the rest. */
const MAX_LINES = 20;

/** Logs the changes of an observation, at most 20 state changes, and the poll itself at debug. */
export function logObservation(
  logger: Logger,
  observation: Observation,
  changes: readonly FleetChange[],
): void {
  const { appliance, outcome, durationSeconds } = observation;
  const result = outcome.ok ? "success" : outcome.failure.reason;
  logger.debug({ appliance, ...fieldsOf(observation), result, durationSeconds }, "poll completed");
  const states = changes.filter(({ kind }) => kind === "vrrp_state");
  const logged = states.slice(0, MAX_LINES);
  for (const change of [...changes.filter(({ kind }) => kind !== "vrrp_state"), ...logged])
    logChange(logger, { appliance }, change);
  const count = states.length - logged.length;
  if (count > 0) logger.info({ appliance, count }, "more vrrp states changed");
}

function logChange(logger: Logger, subject: Fields, change: FleetChange): void {
  switch (change.kind) {
    case "vrrp_state": {
      const { kind: _, ...facts } = change;
      logger.info({ ...subject, ...facts }, "vrrp state changed");
      return;
    }
    case "website_status": {
      const { kind: _, wasUp: __, isUp: ___, ...facts } = change;
      logger.info({ ...subject, ...facts }, "website status changed");
      return;
    }
    case "failing":
      logFailing(logger, subject, change);
      return;
    case "recovered":
      logRecovered(logger, subject, change);
      return;
    case "anomalies":
      logAnomalies(logger, subject, change);
      return;
    default:
      change satisfies never;
  }
}

function logFailing(logger: Logger, subject: Fields, { operation, failure }: ChangeOf<"failing">): void {
  const fields = { ...subject, ...fieldsOf(operation), reason: failure.reason, detail: failure.message };
  if (isReportedElsewhere(failure)) logger.debug(fields, "polling fails");
  else logger.warn(fields, "polling fails");
}

function logRecovered(logger: Logger, subject: Fields, { operation, from }: ChangeOf<"recovered">): void {
  const fields = { ...subject, ...fieldsOf(operation), from: from.reason };
  if (isReportedElsewhere(from)) logger.debug(fields, "polling recovered");
  else logger.info(fields, "polling recovered");
}

/** The failure of the VRRP list is logged already; its websites need no lines of their own. */
function isReportedElsewhere({ reason }: Failure): boolean {
  return reason === "appliance_down";
}

function logAnomalies(logger: Logger, subject: Fields, { count, places }: ChangeOf<"anomalies">): void {
  if (count === 0) {
    logger.info(subject, "api anomalies ended");
    return;
  }
  const where = places.map(({ kind, path }) => `${kind} at ${path}`).join(", ");
  logger.warn({ ...subject, count, places: where }, "api anomalies in the vrrp list");
}

function fieldsOf(operation: Operation): Fields {
  return { operation: operationKey(operation) };
}
