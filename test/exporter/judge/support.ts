import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import type { FleetChange } from "../../../src/exporter/fleet/changes.ts";
import type { Fleet } from "../../../src/exporter/fleet/fleet.ts";
import type { ClusterSnapshot } from "../../../src/exporter/fleet/snapshot.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import type { MaintenanceWindow } from "../../../src/exporter/maintenance/window.ts";
import { fleetDocument, type DocumentFacts } from "../../../src/exporter/document/document.ts";
import type { Observed } from "../../../src/exporter/story/state-changes.ts";
import type { ClusterIncidents } from "../../../src/exporter/story/incident.ts";
import { incidentsAfter } from "../../../src/exporter/story/incidents.ts";
import { judge } from "../../../src/exporter/judge/judge.ts";
import { createPast, type IncidentList } from "../../../src/exporter/story/past.ts";
import type { Instant } from "../../../src/support/clock.ts";
import type { ClusterVerdict } from "../../../src/exporter/judge/verdict.ts";
import type { FleetDocument } from "../../../src/exporter/document/schema.ts";
import { clustersOf, fleetOf, MEMBER_A, MEMBER_B, type pollsOf } from "../fleet/support.ts";
import { configOf, WALL_MS } from "../../support/observations.ts";

/** A board that starts without a journal. */
export const NO_PAST = {
  listener: { judged: () => {}, happened: () => {}, reloaded: () => {} },
  restored: { memories: new Map(), ongoing: new Map(), incidents: [] },
  windows: { covering: () => [], coming: () => [] },
};

/** A verdict on a cluster, and what has happened in it. */
export type Told = ClusterVerdict & { readonly incidents: ClusterIncidents };

/** A judge who remembers the verdicts about each cluster, and tells what has happened. */
export interface Judge {
  judge(
    facts: ClusterSnapshot,
    at: Instant,
    observed?: Observed,
  ): { readonly before: Told | undefined; readonly now: Told };
}

const isTold = (each: ClusterVerdict): each is Told => "incidents" in each;

/** The incidents in these verdicts, by cluster. */
export function incidentsIn(verdicts: readonly ClusterVerdict[]): ReadonlyMap<string, ClusterIncidents> {
  return new Map(verdicts.filter(isTold).map(({ facts, incidents }) => [facts.cluster, incidents]));
}

export function createJudge(windows: readonly MaintenanceWindow[] = []): Judge {
  const known = new Map<string, { readonly verdict: ClusterVerdict; readonly told: Told }>();
  return {
    judge: (facts, at, observed) => {
      const { verdict: before, told } = known.get(facts.cluster) ?? {};
      const begun = windows.filter(({ beginMs }) => beginMs <= at.wallMs);
      const verdict = judge(facts, before, at, { windows: begun });
      const change = { before, now: verdict, at, observed, ongoing: undefined, start: undefined };
      const incidents = incidentsAfter({ ...change, known: told?.incidents });
      const isSame = verdict === before && incidents === told?.incidents;
      const now = isSame ? told : { ...verdict, incidents };
      known.set(facts.cluster, { verdict, told: now });
      return { before: told, now };
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
    loadedAtMs: WALL_MS,
    storageFailure: undefined,
    late: undefined,
    nextPollAtMs: () => undefined,
    incidents: [],
    coming: [],
    ...given,
  });
}

/** A fleet whose observations are judged as they come, at the monotonic instant `nowMs`. */
export function judgedFleet(members: readonly ApplianceConfig[]) {
  const [fleet, judging] = [fleetOf(members), createJudge()];
  return (
    observation: Observation,
    nowMs: number,
  ): { changes: readonly FleetChange[]; judged: ReturnType<Judge["judge"]> } => {
    const { changes, cluster } = fleet.record(observation, nowMs);
    if (cluster === undefined) throw new Error("the appliance is configured");
    const { appliance, sinceMs } = observation;
    const at = { wallMs: WALL_MS + nowMs, monotonicMs: nowMs };
    return { changes, judged: judging.judge(cluster, at, { appliance, changes, sinceMs }) };
  };
}

interface Replay {
  readonly members?: readonly ApplianceConfig[];
  readonly past?: IncidentList;
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
): { readonly past: IncidentList; readonly verdict: Told } {
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
export function incidentLines(past: IncidentList): readonly string[] {
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
