import { OPERATIONS, type Operation } from "../api/operations.ts";
import type { Shard } from "../config/shard.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { logObservation } from "../fleet/changes.ts";
import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Observation, PollEvents } from "../polling/observation.ts";
import type { Runner } from "../polling/runner.ts";
import type { Clock } from "../support/clock.ts";
import { describeBug } from "../support/errors.ts";
import type { Logger } from "../support/log.ts";
import { inSlices } from "../support/slices.ts";
import { confirmingPolls } from "./confirming.ts";
import { fleetDocument, prepareDocument } from "./document.ts";
import { createEvents } from "./events.ts";
import { judge } from "./judge.ts";
import type { FleetDocument } from "./schema.ts";
import type { ClusterVerdict, Judged } from "./verdict.ts";

/** Has observations recorded and judged, and shows the verdicts about the fleet and what has happened to it. */
export interface StatusBoard extends PollEvents {
  /** A bug in what it is passed to affects only this observation: it fails with `internal`, or is lost with a log line. */
  observed(observation: Observation): void;
  /** The verdicts about all clusters now, made in slices: time alone can change some. */
  verdicts(): Promise<readonly ClusterVerdict[]>;
  /** The configuration was reloaded, or could not be; `atMs`: Unix time in milliseconds. */
  reloaded(isSuccess: boolean, atMs: number): void;
  /** Made in slices. */
  document(): Promise<FleetDocument>;
}

export interface StatusBoardDeps {
  readonly version: string;
  readonly shard: Shard;
  readonly fleet: Fleet;
  readonly self: PollEvents;
  readonly logger: Logger;
  readonly clock: Clock;
  /** What polls the fleet; not called before the first observation. */
  readonly runner: () => Pick<Runner, "confirm" | "replan" | "nextPollMs">;
}

export function createStatusBoard(deps: StatusBoardDeps): StatusBoard {
  const { version, shard, fleet, self, logger, clock, runner } = deps;
  /** The latest ones, by cluster. */
  const latest = new Map<string, ClusterVerdict>();
  const events = createEvents();
  const startedAtMs = clock.wallMs();
  let reloadFailedAtMs: number | undefined;

  function nextPollAtMs(appliance: string, operation: Operation): number | undefined {
    const nextMs = runner().nextPollMs(appliance, operation);
    return nextMs && Math.round(nextMs - clock.monotonicMs() + clock.wallMs());
  }

  function judged(facts: ClusterSnapshot): Judged {
    const at = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
    const before = latest.get(facts.cluster);
    const now = judge(facts, before, at);
    latest.set(facts.cluster, now);
    events.judged({ before, now }, at.wallMs);
    return { before, now };
  }

  function record(observation: Observation): void {
    const { appliance, kind } = observation;
    const { changes, cluster } = fleet.record(observation, clock.monotonicMs());
    if (OPERATIONS[kind].timing === "discovery") runner().replan(appliance);
    if (cluster !== undefined) {
      const change = judged(cluster);
      events.changed(changes, change.now, appliance, clock.wallMs());
      for (const polls of confirmingPolls(change, observation, changes)) runner().confirm(polls);
    }
    logObservation(logger, observation, changes);
    self.observed(observation);
  }

  async function verdicts(): Promise<readonly ClusterVerdict[]> {
    const names = fleet.clusters();
    const all: ClusterVerdict[] = [];
    await inSlices(names, (name) => {
      const facts = fleet.cluster(name, clock.monotonicMs());
      if (facts !== undefined) all.push(judged(facts).now);
    });
    // After a reload between two slices, an appliance could be in two clusters or in none.
    if (fleet.clusters() !== names) return verdicts();
    const configured = new Set(names);
    for (const name of latest.keys()) if (!configured.has(name)) latest.delete(name);
    return all;
  }

  return {
    ...self,
    observed: (observation) => {
      try {
        record(observation);
      } catch (error) {
        const message = describeBug(error);
        try {
          record({ ...observation, outcome: { ok: false, failure: { reason: "internal", message } } });
        } catch {
          logger.error({ appliance: observation.appliance, detail: message }, "observation lost to a bug");
        }
      }
    },
    verdicts,
    reloaded: (isSuccess, atMs) => {
      reloadFailedAtMs = isSuccess ? undefined : (reloadFailedAtMs ?? atMs);
    },
    document: async () => {
      const all = await verdicts();
      await inSlices(all, (verdict) => prepareDocument(verdict, nextPollAtMs));
      const facts = { version, shard, startedAtMs, reloadFailedAtMs, nextPollAtMs };
      return fleetDocument(all, { ...facts, events: events.list() });
    },
  };
}
