import { adviceOn } from "../api/advice.ts";
import { operationKey } from "../api/operation.ts";
import type { FleetChange } from "../fleet/changes.ts";
import type { Observation } from "../polling/observation.ts";
import type { Logger } from "../../support/log.ts";
import type { IncidentList } from "./past.ts";
import type { KnownIncident } from "../document/schema.ts";
import type { VerdictPair } from "../judge/verdict.ts";

const MAX_LINES = 20;

/**
 * Logs a line for each incident of a cluster that begins or ends, is planned now or no longer, or whose sentence or end changes, at most 20,
 * since an appliance may invent states at each poll. The begin of an incident that is not planned is a warning.
 */
export function logIncidents(logger: Logger, news: ReturnType<IncidentList["add"]>): void {
  const changes = news.flatMap(({ before, now }) => {
    const message = before === undefined ? "incident" : messageOf(before, now);
    return message === undefined ? [] : [{ message, now }];
  });
  for (const { message, now } of changes.slice(0, MAX_LINES)) {
    const { id: incident, kind, severity, isPlanned, cluster, begin, end, summary } = now;
    const { failover, outageAtMostSeconds } = now;
    const { from, to, cause, evidence, withoutMasterAtMostSeconds } = failover ?? {};
    const fields = { cluster, incident, kind, severity, isPlanned, summary, begin, end, outageAtMostSeconds };
    logger[message === "incident over" || isPlanned === true ? "info" : "warn"](
      { ...fields, from, to, cause, evidence, withoutMasterAtMostSeconds },
      message,
    );
  }
  const count = changes.length - MAX_LINES;
  if (count > 0) logger.info({ cluster: changes[0]?.now.cluster, count }, "more incidents");
}

/** Returns the news of a known incident; `undefined` for further subjects that its sentence only counts. */
function messageOf(before: KnownIncident, now: KnownIncident): string | undefined {
  if (before.end === undefined && now.end !== undefined) return "incident over";
  const isSame = withoutCount(before) === withoutCount(now) && before.end === now.end;
  return isSame && before.isPlanned === now.isPlanned ? undefined : "incident changed";
}

/** Returns the sentence without the number of subjects that it does not name: a thousand websites may go down one after the other. */
function withoutCount({ summary }: KnownIncident): string {
  return summary.replace(/\d+ more$/, "more");
}

/**
 * Logs the changes of an observation that its incidents do not report, at most 20 state changes, and the poll itself at debug. `cluster` is
 * the cluster of the appliance; `undefined` for an appliance that is gone.
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
  const operation = operationKey(observation);
  logger.debug({ cluster, appliance, operation, result, durationSeconds }, "poll completed");
  const states = changes.filter(({ kind }) => kind === "vrrp_state");
  const others = changes.filter(({ kind }) => kind !== "vrrp_state");
  for (const change of [...states.slice(0, MAX_LINES), ...others]) logChange(logger, where, change);
  const count = states.length - MAX_LINES;
  if (count > 0) logger.info({ ...where, count }, "more vrrp states changed");
}

/** Logs the states of websites of a cluster that a new configuration has changed, at most 20. */
export function logReloaded(logger: Logger, { before, now }: VerdictPair): void {
  if (before === undefined || before.websites === now.websites) return;
  const { cluster } = now.facts;
  const changes = [...now.websites.values()].flatMap(({ key, website, states }) => {
    const old = before.websites.get(key)?.states ?? [];
    return states.flatMap(({ protocol, state: to }) => {
      const from = old.find((each) => each.protocol === protocol)?.state;
      return from === undefined || to === undefined || from === to ? [] : [{ website, protocol, from, to }];
    });
  });
  for (const change of changes.slice(0, MAX_LINES))
    logger.info({ cluster, ...change }, "website state changed with the configuration");
  const count = changes.length - MAX_LINES;
  if (count > 0) logger.info({ cluster, count }, "more website states changed with the configuration");
}

function logChange(logger: Logger, where: object, { kind, ...facts }: FleetChange): void {
  if ("failure" in facts) {
    const { reason, message: detail } = facts.failure;
    const level = reason === "unsupported" ? "info" : "warn";
    const advice = facts.operation.kind === "vrrp" ? adviceOn(facts.failure) : undefined;
    logger[level](
      { ...where, operation: operationKey(facts.operation), reason, detail, advice },
      "polling fails",
    );
  } else if ("operation" in facts) {
    // The end of the appliance's incident already says that its list is polled again.
    if (facts.operation.kind === "vrrp") return;
    const from = facts.from.reason;
    logger.info({ ...where, operation: operationKey(facts.operation), from }, "polling recovered");
  } else if (kind === "vrrp_state" || kind === "website_status") {
    const message = kind === "vrrp_state" ? "vrrp state changed" : "website status changed";
    logger.info({ ...where, ...facts }, message);
  }
}
