import type { Operation } from "../api/operation.ts";
import type { Shard } from "../config/shard.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { pendingIn, wasRead, type ClusterSnapshot } from "../fleet/snapshot.ts";
import type { MaintenanceWindow } from "../maintenance/window.ts";
import type { Windows } from "../maintenance/windows.ts";
import type { Observation, PollEvents } from "../polling/observation.ts";
import { POLL_RULES } from "../polling/rules.ts";
import type { Runner } from "../polling/runner.ts";
import type { Clock } from "../../support/clock.ts";
import { describeBug } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import { inSlices } from "../../support/slices.ts";
import { confirmingPolls } from "./confirming.ts";
import { clusterDocument, fleetDocument } from "../document/document.ts";
import type { Observed } from "../story/state-changes.ts";
import { changesAtMs, judge } from "../judge/judge.ts";
import { ownProblems, stuckProblem, type OwnFacts, type StorageFailure } from "../judge/own-problems.ts";
import type { Problem } from "../judge/problem.ts";
import { createLatenessWatch } from "./lateness.ts";
import type { ClusterIncidents } from "../story/incident.ts";
import type { Ongoing } from "../story/incidents.ts";
import { logObservation, logReloaded } from "../story/log.ts";
import { isContradictory, stillRemembered } from "../judge/forgetting.ts";
import type { Memory, Start } from "../judge/memory.ts";
import type { FleetDocument, IncidentDocument, KnownIncident } from "../document/schema.ts";
import { hasFailover } from "../story/muted-failovers.ts";
import { createStory, type News } from "../story/story.ts";
import type { ClusterVerdict, VerdictPair } from "../judge/verdict.ts";

/** Records and judges observations, and shows the verdicts on the fleet and its history. */
export interface StatusBoard extends PollEvents {
  /**
   * Records an observation. A bug in its receivers affects only this observation, which fails with `internal`, or is lost with a log line.
   */
  observed(observation: Observation): void;
  /** Returns the verdicts on all clusters now, made in slices, since time alone can change some. */
  verdicts(): Promise<readonly ClusterVerdict[]>;
  /** Returns these verdicts, with the incidents of each cluster at the same instant, by name. */
  current(): Promise<Current>;
  /** Whether a window mutes a failover of the last five minutes. */
  isMuting(window: MaintenanceWindow): boolean;
  /** Restores incidents of an earlier run that became known after the start. */
  restore(incidents: readonly KnownIncident[]): void;
  /** Records that the configuration was reloaded, or could not be; `atMs` is Unix time in milliseconds. */
  reloaded(isSuccess: boolean, atMs: number): void;
  /** Returns the document, made in slices. */
  document(): Promise<FleetDocument>;
}

export interface Current {
  readonly verdicts: readonly ClusterVerdict[];
  readonly incidents: ReadonlyMap<string, ClusterIncidents>;
  /** The incidents of the fleet, the latest one first. */
  readonly past: readonly IncidentDocument[];
  /** The problems of the exporter itself, also those that clusters have a problem for. */
  readonly own: readonly Problem[];
}

/** Receives each change of a verdict. `before` is `undefined` for a new cluster, `now` for a cluster that is gone. */
export interface Listener {
  judged(before: ClusterVerdict | undefined, now: ClusterVerdict | undefined, atMs: number): void;
  /** Receives the incidents of a cluster each time that they change. */
  happened(news: News, atMs: number): void;
  reloaded(isSuccess: boolean, atMs: number): void;
}

/** State that an earlier run of the exporter left. */
export interface Restored {
  /** The functions that return what was known of each cluster, by name. */
  readonly memories: ReadonlyMap<string, () => Memory>;
  readonly ongoing: ReadonlyMap<string, () => Ongoing>;
  readonly incidents: readonly KnownIncident[];
  /** The windows that were started by command and have not ended. */
  readonly windows: readonly MaintenanceWindow[];
}

/** This long after a start, a state that no poll has confirmed is forgotten. */
const REMEMBERED_MS = 3_600_000;

export interface StatusBoardDeps {
  readonly version: string;
  readonly shard: Shard;
  readonly fleet: Fleet;
  readonly self: PollEvents;
  readonly listener: Listener;
  readonly restored: Omit<Restored, "windows">;
  readonly windows: Pick<Windows, "covering" | "coming">;
  /** Returns why the journal cannot be written; absent without a journal. */
  readonly storageFailure?: (() => StorageFailure | undefined) | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly runner: Pick<Runner, "confirm" | "replan" | "nextPollMs">;
}

export function createStatusBoard(deps: StatusBoardDeps): StatusBoard {
  const { version, shard, fleet, self, listener, restored, windows, logger, clock, runner } = deps;
  /** The latest verdicts, by cluster. */
  const latest = new Map<string, ClusterVerdict>();
  /** What an earlier run knew of clusters that were not polled completely yet. */
  const memories = new Map(restored.memories);
  const story = createStory({ ...restored, logger, onNews: listener.happened });
  const startedAtMs = clock.wallMs();
  const forgetsAtMs = clock.monotonicMs() + REMEMBERED_MS;
  let loadedAtMs = startedAtMs;
  let reloadFailedAtMs: number | undefined;
  const lateness = createLatenessWatch(clock);
  const ownFacts = (): OwnFacts => {
    return {
      loadedAtMs,
      reloadFailedAtMs,
      storageFailure: deps.storageFailure?.(),
      late: lateness.late(),
    };
  };

  function nextPollAtMs(appliance: string, operation: Operation): number | undefined {
    const nextMs = runner.nextPollMs(appliance, operation);
    return nextMs && Math.round(nextMs - clock.monotonicMs() + clock.wallMs());
  }

  /** Returns the start of a cluster at a monotonic instant; `undefined` when it is over. */
  function startOf(facts: ClusterSnapshot, monotonicMs: number): Start | undefined {
    const memory = memories.get(facts.cluster)?.();
    return memory && { memory, isSettled: monotonicMs >= forgetsAtMs || isPolled(facts) };
  }

  /** Remembers what a verdict leaves of the memory of an earlier run. */
  function remember(now: ClusterVerdict, { memory, isSettled }: Start, monotonicMs: number): void {
    const { cluster } = now.facts;
    const isDone = monotonicMs >= forgetsAtMs || (isSettled && !isContradictory(now));
    const still = isDone ? undefined : stillRemembered(memory, now);
    if (still === undefined) memories.delete(cluster);
    else memories.set(cluster, () => still);
  }

  /** Judges a cluster as it is at a monotonic instant. */
  function judged(facts: ClusterSnapshot, monotonicMs: number, observed?: Observed): VerdictPair {
    const at = { wallMs: Math.round(clock.wallMs() + monotonicMs - clock.monotonicMs()), monotonicMs };
    const before = latest.get(facts.cluster);
    const start = startOf(facts, monotonicMs);
    const now = judge(facts, before, at, { memory: start?.memory, windows: windows.covering(facts) });
    latest.set(facts.cluster, now);
    if (start !== undefined) remember(now, start, monotonicMs);
    if (now !== before) listener.judged(before, now, at.wallMs);
    story.follow({ now, at, observed, start });
    return { before, now };
  }

  /**
   * Judges a cluster at each instant until `nowMs` at which time alone changed it, so that the time of reading does not date the changes.
   */
  function advance(cluster: string, nowMs: number): void {
    const verdict = latest.get(cluster);
    const changesMs = verdict === undefined ? Number.POSITIVE_INFINITY : changesAtMs(verdict);
    const atMs = Math.min(fleet.expiresAtMs(cluster), changesMs, story.changesAtMs(cluster));
    const facts = atMs > nowMs ? undefined : fleet.cluster(cluster, atMs);
    if (facts === undefined) return;
    judged(facts, atMs);
    advance(cluster, nowMs);
  }

  function record(observation: Observation): void {
    const { appliance, kind } = observation;
    const [nowMs, name] = [clock.monotonicMs(), fleet.clusterOf(appliance)];
    if (name !== undefined) advance(name, nowMs);
    const { changes, cluster } = fleet.record(observation, nowMs);
    if (POLL_RULES[kind].timing === "discovery") runner.replan(appliance);
    if (cluster !== undefined) {
      const change = judged(cluster, nowMs, { appliance, changes, sinceMs: observation.sinceMs });
      for (const polls of confirmingPolls(change, observation, changes)) runner.confirm(polls);
    }
    logObservation(logger, name, observation, changes);
    self.observed(observation);
  }

  /** Judges all clusters as they are now, and forgets those that are gone; returns the names. */
  async function judgeAll(): Promise<readonly string[]> {
    const names = fleet.clusters();
    await inSlices(names, (name) => {
      const nowMs = clock.monotonicMs();
      advance(name, nowMs);
      const facts = fleet.cluster(name, nowMs);
      if (facts !== undefined) judged(facts, nowMs);
    });
    // After a reload between two slices, an appliance could be in two clusters or in none.
    if (fleet.clusters() !== names) return judgeAll();
    const configured = new Set(names);
    for (const name of [...latest.keys(), ...memories.keys()]) {
      if (configured.has(name)) continue;
      const at = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
      story.forget(name, at);
      listener.judged(latest.get(name), undefined, at.wallMs);
      for (const known of [latest, memories]) known.delete(name);
    }
    return names;
  }

  function verdictsOf(names: readonly string[]): readonly ClusterVerdict[] {
    return names.flatMap((name) => latest.get(name) ?? []);
  }

  const verdicts = async (): Promise<readonly ClusterVerdict[]> => verdictsOf(await judgeAll());

  async function current(): Promise<Current> {
    const names = await judgeAll();
    // Verdicts and incidents of one instant: polls between the slices may have changed those of earlier clusters.
    const incidents = names.flatMap((name) => {
      const own = story.of(name);
      return own === undefined ? [] : [[name, own] as const];
    });
    const all = verdictsOf(names);
    return {
      verdicts: all,
      incidents: new Map(incidents),
      past: story.list(),
      own: [...ownProblems(all, ownFacts()), ...stuckProblem(all)],
    };
  }

  /** Judges all clusters under a new configuration at once: what that changes has begun with it, and not with the next poll. */
  async function judgeReloaded(): Promise<void> {
    await inSlices(fleet.clusters(), (name) => {
      const nowMs = clock.monotonicMs();
      advance(name, nowMs);
      const facts = fleet.cluster(name, nowMs);
      if (facts !== undefined) logReloaded(logger, judged(facts, nowMs));
    });
  }

  return {
    ended: self.ended,
    started: (kind, latenessSeconds) => {
      lateness.started(kind, latenessSeconds);
      self.started(kind, latenessSeconds);
    },
    skipped: (kind, reason, count) => {
      lateness.skipped(kind, reason, count);
      self.skipped(kind, reason, count);
    },
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
    current,
    isMuting: (window) => {
      const at = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
      return [...latest.values()].some((verdict) => {
        const { recent = [] } = story.of(verdict.facts.cluster) ?? {};
        return hasFailover(window, verdict, recent, at);
      });
    },
    restore: story.restore,
    reloaded: (isSuccess, atMs) => {
      listener.reloaded(isSuccess, atMs);
      reloadFailedAtMs = isSuccess ? undefined : (reloadFailedAtMs ?? atMs);
      if (!isSuccess) return;
      loadedAtMs = atMs;
      judgeReloaded().catch((error: unknown) => {
        logger.error({ detail: describeBug(error) }, "new configuration could not be judged");
      });
    },
    document: async () => {
      const { verdicts: all, past } = await current();
      // The cluster documents are kept for the fleet document.
      await inSlices(all, (verdict) => void clusterDocument(verdict, { verdict, nextPollAtMs }));
      const coming = windows.coming();
      return fleetDocument(all, {
        version,
        shard,
        startedAtMs,
        nextPollAtMs,
        coming,
        ...ownFacts(),
        incidents: past,
      });
    },
  };
}

/** Whether everything of a cluster was polled. While no appliance answers, as before the network is up, nothing is known of groups. */
function isPolled(facts: ClusterSnapshot): boolean {
  return facts.appliances.some(wasRead) && pendingIn(facts).length === 0;
}
