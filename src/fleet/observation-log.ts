import type { FleetChange } from "./changes.ts";
import type { Logger, LogLevel } from "../support/log.ts";
import { operationKey, type Observation } from "../polling/observation.ts";

/** State changes to log for each poll; another line counts the others. */
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
  for (const change of [...changes.filter(({ kind }) => kind !== "vrrp_state"), ...logged]) {
    const { level, message, ...fields } = lineOf(change, observation);
    logger[level]({ appliance, ...fields }, message);
  }
  const count = states.length - logged.length;
  if (count > 0) logger.info({ appliance, count }, "more vrrp states changed");
}

interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly [field: string]: unknown;
}

function lineOf(change: FleetChange, observation: Observation): Line {
  switch (change.kind) {
    case "vrrp_state": {
      const { kind: _, ...facts } = change;
      return { level: "info", message: "vrrp state changed", ...facts };
    }
    case "website_status": {
      const { kind: _, ...facts } = change;
      return { level: "info", message: "website status changed", ...facts };
    }
    case "failing": {
      const operation = operationKey(change.operation);
      const { reason, message: detail } = change.failure;
      // A refusal stops the details of all websites: one line is enough.
      const isConsequence =
        observation.kind === "website_details" && observation.durationSeconds === undefined;
      const level = isConsequence ? "debug" : reason === "unsupported" ? "info" : levelOf(reason, "warn");
      return { level, message: "polling fails", operation, reason, detail };
    }
    case "recovered": {
      const operation = operationKey(change.operation);
      const { reason: from } = change.from;
      return { level: levelOf(from, "info"), message: "polling recovered", operation, from };
    }
    case "anomalies": {
      const { count } = change;
      if (count === 0) return { level: "info", message: "api anomalies ended" };
      const places = change.places.map(({ kind, path }) => `${kind} at ${path}`).join(", ");
      return { level: "warn", message: "api anomalies in the vrrp list", count, places };
    }
    default:
      return change satisfies never;
  }
}

/** The failure of the VRRP list is logged already; its websites need no lines of their own. */
function levelOf(reason: string, level: LogLevel): LogLevel {
  return reason === "appliance_down" ? "debug" : level;
}
