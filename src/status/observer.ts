import { OPERATIONS } from "../api/operations.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { logObservation } from "../fleet/observation-log.ts";
import type { Observation, PollEvents } from "../polling/observation.ts";
import type { Runner } from "../polling/runner.ts";
import type { Clock } from "../support/clock.ts";
import { describeBug } from "../support/errors.ts";
import type { Logger } from "../support/log.ts";
import type { StatusBoard } from "./board.ts";
import { confirmingPolls } from "./confirming.ts";

export interface ObserverDeps {
  readonly fleet: Fleet;
  readonly board: StatusBoard;
  readonly self: PollEvents;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly confirm: Runner["confirm"];
  readonly replan: Runner["replan"];
}

/**
 * Passes each observation to the fleet, its verdicts, the log and the exporter's own metrics. A bug in one of them affects
 * only this observation: it fails with `internal`, or is lost with a log line. Polling continues.
 */
export function createObserver(deps: ObserverDeps): PollEvents {
  const { fleet, board, self, logger, clock, confirm, replan } = deps;

  function apply(observation: Observation): void {
    const { changes, cluster } = fleet.record(observation, clock.monotonicMs());
    if (OPERATIONS[observation.kind].timing === "discovery") replan(observation.appliance);
    if (cluster !== undefined) {
      const judged = board.observed(observation.appliance, changes, cluster);
      for (const polls of confirmingPolls(judged, observation, changes)) confirm(polls);
    }
    logObservation(logger, observation, changes);
    self.observed(observation);
  }

  return {
    ...self,
    observed: (observation) => {
      const message = bugIn(() => apply(observation));
      if (message === undefined) return;
      const failure = { reason: "internal", message } as const;
      const isLost = bugIn(() => apply({ ...observation, outcome: { ok: false, failure } })) !== undefined;
      if (isLost)
        logger.error({ appliance: observation.appliance, detail: message }, "observation lost to a bug");
    },
  };
}

/** Describes the error that the work throws, if any. */
function bugIn(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return describeBug(error);
  }
}
