import type { ApplianceConfig } from "../../src/config/config.ts";
import { WHOLE_FLEET } from "../../src/config/shard.ts";
import type { FleetChange } from "../../src/fleet/changes.ts";
import type { Fleet } from "../../src/fleet/fleet.ts";
import type { ClusterSnapshot } from "../../src/fleet/snapshot.ts";
import type { Observation } from "../../src/polling/observation.ts";
import type { MaintenanceWindow } from "../../src/maintenance/window.ts";
import { fleetDocument, type DocumentFacts } from "../../src/status/document.ts";
import type { Observed } from "../../src/status/happenings.ts";
import { judge } from "../../src/status/judge.ts";
import { createPast, type Past } from "../../src/status/past.ts";
import type { Instant } from "../../src/support/clock.ts";
import type { ClusterVerdict, Judged } from "../../src/status/verdict.ts";
import type { FleetDocument } from "../../src/status/schema.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, type pollsOf } from "../fleet/support.ts";
import { configOf, WALL_MS } from "../support/observations.ts";

/** A board that starts without a journal. */
export const NO_PAST = {
  listener: { judged: () => {}, reloaded: () => {} },
  restored: { clusters: new Map(), incidents: [] },
  windows: { covering: () => [] },
};

/** A judge who remembers the verdicts about each cluster. */
export interface Judge {
  judge(facts: ClusterSnapshot, at: Instant, observed?: Observed): Judged;
}

export function createJudge(windows: readonly MaintenanceWindow[] = []): Judge {
  const verdicts = new Map<string, ClusterVerdict>();
  return {
    judge: (facts, at, observed) => {
      const before = verdicts.get(facts.cluster);
      const begun = windows.filter(({ beginMs }) => beginMs <= at.wallMs);
      const now = judge(facts, before, at, { observed, windows: begun });
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
    const { appliance, sinceMs } = observation;
    const at = { wallMs: WALL_MS + nowMs, monotonicMs: nowMs };
    return { changes, judged: judging.judge(cluster, at, { appliance, changes, sinceMs }) };
  };
}

interface Replay {
  readonly members?: readonly ApplianceConfig[];
  readonly past?: Past;
  readonly windows?: readonly MaintenanceWindow[];
  /** The wall clock at a monotonic instant, without the days before. */
  readonly wallOf?: (nowMs: number) => number;
  /** The members from a monotonic instant on. */
  readonly reload?: { readonly atMs: number; readonly members: readonly ApplianceConfig[] };
}

/** What happened, and the verdict about the cluster of the latest poll, after polls by the instants at which their results were known. */
export function replay(
  polls: ReturnType<typeof pollsOf>,
  {
    members = [MEMBER_A, MEMBER_B],
    past = createPast(),
    windows,
    wallOf = (nowMs) => nowMs,
    reload,
  }: Replay = {},
): { readonly past: Past; readonly verdict: ClusterVerdict } {
  const [fleet, judging] = [fleetOf(members), createJudge(windows)];
  const verdicts = polls.map(({ observation, atMs }) => {
    if (reload !== undefined && atMs >= reload.atMs) fleet.configure(configOf(...reload.members), atMs);
    const { changes, cluster } = fleet.record(observation, atMs);
    if (cluster === undefined) throw new Error("the appliance is configured");
    const at = { wallMs: WALL_MS + wallOf(atMs), monotonicMs: atMs };
    const { appliance, sinceMs } = observation;
    const { before, now } = judging.judge(cluster, at, { appliance, changes, sinceMs });
    if (now.incidents !== before?.incidents) past.add(now.incidents.news);
    return now;
  });
  const verdict = verdicts.at(-1);
  if (verdict === undefined) throw new Error("there are polls");
  return { past, verdict };
}

/** What happened, the latest first: the seconds at which it began and was over, its kind and its sentence. */
export function incidentLines(past: Past): readonly string[] {
  return past.list().map(({ begin, end, kind, summary }) => {
    return `${secondOf(begin)}-${end === undefined ? "" : secondOf(end)} ${kind}: ${summary}`;
  });
}

function secondOf(at: string): number {
  return (Date.parse(at) - WALL_MS) / 1000;
}

/** What is wrong, a line each: severity, kind and words. */
export function problemLines(document: FleetDocument): readonly string[] {
  return document.problems.map(({ severity, kind, summary }) => `${severity} ${kind}: ${summary}`);
}
