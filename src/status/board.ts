import type { Shard } from "../config/shard.ts";
import type { FleetChange } from "../fleet/changes.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { ClusterSnapshot } from "../fleet/snapshot.ts";
import type { Runner } from "../polling/runner.ts";
import type { Clock } from "../support/clock.ts";
import { once } from "../support/once.ts";
import { inSlices } from "../support/slices.ts";
import { fleetDocument, prepareDocument, type NextPollAtMs } from "./document.ts";
import { createEvents } from "./events.ts";
import { createJudge } from "./judge.ts";
import type { FleetDocument } from "./schema.ts";
import type { ClusterVerdict, Judged } from "./verdict.ts";

/** The verdicts about the fleet, what has happened to it, and both as a document. */
export interface StatusBoard {
  /** Processes what an observation of an appliance has changed. */
  observed(appliance: string, changes: readonly FleetChange[], cluster: ClusterSnapshot): Judged;
  /** The verdicts about all clusters now, made in slices: time alone can change some. */
  verdicts(): Promise<readonly ClusterVerdict[]>;
  /** The configuration was reloaded, or could not be; `atMs`: Unix time in milliseconds. */
  reloaded(isSuccess: boolean, atMs: number): void;
  /** Made in slices. */
  document(runner: Pick<Runner, "nextPollMs">): Promise<FleetDocument>;
}

export interface StatusBoardDeps {
  readonly version: string;
  readonly shard: Shard;
  readonly fleet: Pick<Fleet, "clusters" | "cluster">;
  readonly clock: Clock;
}

export function createStatusBoard({ version, shard, fleet, clock }: StatusBoardDeps): StatusBoard {
  const judge = createJudge();
  const events = createEvents();
  const startedAtMs = clock.wallMs();
  let reloadFailedAtMs: number | undefined;
  const nextPollsOf = once((runner: Pick<Runner, "nextPollMs">): NextPollAtMs => (appliance, operation) => {
    const nextMs = runner.nextPollMs(appliance, operation);
    return nextMs && Math.round(nextMs - clock.monotonicMs() + clock.wallMs());
  });
  const now = () => ({ wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() });

  async function verdicts(): Promise<readonly ClusterVerdict[]> {
    const names = fleet.clusters();
    const all: ClusterVerdict[] = [];
    await inSlices(names, (name) => {
      const at = now();
      const facts = fleet.cluster(name, at.monotonicMs);
      if (facts === undefined) return;
      const judged = judge.judge(facts, at);
      events.judged(judged, at.wallMs);
      all.push(judged.now);
    });
    // After a reload between two slices, an appliance could be in two clusters or in none.
    if (fleet.clusters() !== names) return verdicts();
    judge.keep(names);
    return all;
  }

  return {
    observed: (appliance, changes, cluster) => {
      const at = now();
      const judged = judge.judge(cluster, at);
      events.judged(judged, at.wallMs);
      events.changed(changes, judged.now, appliance, at.wallMs);
      return judged;
    },
    verdicts,
    reloaded: (isSuccess, atMs) => {
      reloadFailedAtMs = isSuccess ? undefined : (reloadFailedAtMs ?? atMs);
    },
    document: async (runner) => {
      const judged = await verdicts();
      const nextPollAtMs = nextPollsOf(runner);
      await inSlices(judged, (verdict) => prepareDocument(verdict, nextPollAtMs));
      return fleetDocument(judged, {
        version,
        shard,
        startedAtMs,
        reloadFailedAtMs,
        nowMs: clock.wallMs(),
        events: events.list(),
        nextPollAtMs,
      });
    },
  };
}
