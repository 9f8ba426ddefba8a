import type { ApplianceConfig } from "../../src/config/config.ts";
import { WHOLE_FLEET } from "../../src/config/shard.ts";
import type { FleetChange } from "../../src/fleet/changes.ts";
import type { Fleet } from "../../src/fleet/fleet.ts";
import type { ClusterSnapshot } from "../../src/fleet/snapshot.ts";
import type { Observation } from "../../src/polling/observation.ts";
import { fleetDocument, type DocumentFacts } from "../../src/status/document.ts";
import type { Observed } from "../../src/status/happenings.ts";
import { judge } from "../../src/status/judge.ts";
import type { Instant } from "../../src/support/clock.ts";
import type { ClusterVerdict, Judged } from "../../src/status/verdict.ts";
import type { FleetDocument } from "../../src/status/schema.ts";
import { clustersOf, fleetOf } from "../fleet/support.ts";
import { WALL_MS } from "../support/observations.ts";

/** A judge who remembers the verdicts about each cluster. */
export interface Judge {
  judge(facts: ClusterSnapshot, at: Instant, observed?: Observed): Judged;
}

export function createJudge(): Judge {
  const verdicts = new Map<string, ClusterVerdict>();
  return {
    judge: (facts, at, observed) => {
      const before = verdicts.get(facts.cluster);
      const now = judge(facts, before, at, observed);
      verdicts.set(facts.cluster, now);
      return { before, now };
    },
  };
}

/** The document of a fleet at the monotonic instant `nowMs`, a minute after the canned observations. */
export function documentOf(
  fleet: Fleet,
  given: Partial<DocumentFacts> = {},
  nowMs = 0,
  judging = createJudge(),
): FleetDocument {
  const at = { wallMs: WALL_MS + nowMs, monotonicMs: nowMs };
  const verdicts = clustersOf(fleet, nowMs).map((facts) => judging.judge(facts, at).now);
  return fleetDocument(verdicts, {
    version: "1.2.3",
    shard: WHOLE_FLEET,
    startedAtMs: WALL_MS - 60_000,
    reloadFailedAtMs: undefined,
    nextPollAtMs: () => undefined,
    incidents: [],
    ...given,
  });
}

/** A fleet whose observations are judged as they come, at the monotonic instant `nowMs`. */
export function judgedFleet(members: readonly ApplianceConfig[]) {
  const [fleet, judging] = [fleetOf(members), createJudge()];
  return (observation: Observation, nowMs: number): { changes: readonly FleetChange[]; judged: Judged } => {
    const { changes, cluster } = fleet.record(observation, nowMs);
    if (cluster === undefined) throw new Error("the appliance is configured");
    const { appliance } = observation;
    const at = { wallMs: WALL_MS + nowMs, monotonicMs: nowMs };
    return { changes, judged: judging.judge(cluster, at, { appliance, changes }) };
  };
}

/** What is wrong, a line each: severity, kind and words. */
export function problemLines(document: FleetDocument): readonly string[] {
  return document.problems.map(({ severity, kind, summary }) => `${severity} ${kind}: ${summary}`);
}
