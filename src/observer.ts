import type { Fleet } from "./fleet/fleet.ts";
import type { Logger } from "./support/log.ts";
import type { FleetExposition } from "./metrics/exposition.ts";
import type { SelfMetrics } from "./metrics/self.ts";
import { logObservation } from "./fleet/observation-log.ts";
import type { Clock } from "./support/clock.ts";
import type { PollEvents } from "./polling/events.ts";
import type { History } from "./status/history.ts";
import { describeBug } from "./support/describe-bug.ts";
import type { Observation } from "./polling/observation.ts";

export interface ObserverDeps {
  readonly fleet: Fleet;
  readonly exposition: FleetExposition;
  readonly self: SelfMetrics;
  readonly history: History;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Where observations go: into the fleet, ahead into its text, into the log and our own metrics. A bug on that way costs
 * the one operation its value (`internal`, or a log line and no more), and never the polling.
 */
export function createObserver(deps: ObserverDeps): PollEvents {
  const { fleet, exposition, self, history, logger, clock } = deps;

  function take(observation: Observation): void {
    const monotonicMs = clock.monotonicMs();
    const { changes, sections } = fleet.record(observation, monotonicMs);
    for (const section of sections) exposition.prepare(section);
    history.record(changes, sections, { wallMs: observation.completedAtMs, monotonicMs });
    logObservation(logger, observation, changes);
    self.observed(observation);
  }

  return {
    started: self.started,
    skipped: self.skipped,
    ended: self.ended,
    observed: (observation) => {
      const failedBy = attempt(() => take(observation));
      if (failedBy === undefined) return;
      const failure = { reason: "internal", message: failedBy } as const;
      const isLost = attempt(() => take({ ...observation, outcome: { ok: false, failure } })) !== undefined;
      if (isLost)
        logger.error({ appliance: observation.appliance, detail: failedBy }, "observation lost to a bug");
    },
  };
}

/** What went wrong, in words; `undefined` where nothing did. */
function attempt(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return describeBug(error);
  }
}
