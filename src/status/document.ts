import type { Shard } from "../config/shard.ts";
import type { FleetSnapshot } from "../fleet/snapshot.ts";
import { clusterDocuments, type ClusterFacts } from "./clusters.ts";
import type { Recalled } from "./problems/recalled.ts";
import { problemsOf } from "./problems.ts";
import type { FleetDocument, FleetEvent, Problem } from "./schema.ts";
import { instantOf } from "./words.ts";

/** What the document tells beside the fleet's snapshot. */
export interface DocumentFacts extends ClusterFacts {
  readonly version: string;
  readonly shard: Shard;
  /** Unix time in milliseconds. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  /** Of the configuration; `undefined`: never failed, or not since it last succeeded. */
  readonly reloadFailedAtMs: number | undefined;
  readonly recalled: Recalled;
  /** Latest first. */
  readonly events: readonly FleetEvent[];
}

/** What is true of the fleet, for people and for programs that tell people. */
export function fleetDocument(snapshot: FleetSnapshot, facts: DocumentFacts): FleetDocument {
  const { version, shard, startedAtMs, nowMs, reloadFailedAtMs } = facts;
  const clusters = clusterDocuments(snapshot, facts);
  const problems = problemsOf(clusters, { nowMs, reloadFailedAtMs, recalled: facts.recalled });
  return {
    verdict: verdictOf(problems, clusters.length > 0),
    exporter: { version, shard, startedAt: instantOf(startedAtMs) },
    problems: [...problems],
    clusters: [...clusters],
    events: [...facts.events],
  };
}

function verdictOf(problems: readonly Problem[], isPolling: boolean): FleetDocument["verdict"] {
  if (problems.some(({ severity }) => severity !== "unknown")) return "wrong";
  return problems.length > 0 || !isPolling ? "unknown" : "well";
}
