import type { MaintenanceWindow } from "../../exporter/maintenance/window.ts";
import type { Sources } from "../../exporter/history.ts";
import type { Listener } from "../../exporter/board/board.ts";
import type { ClusterIncidents } from "../../exporter/story/incident.ts";
import type { ClusterVerdict } from "../../exporter/judge/verdict.ts";
import { instantOf } from "../../exporter/judge/words.ts";
import type { Clock } from "../../support/clock.ts";
import { describeBug } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import { inSlices } from "../../support/slices.ts";
import { bandOf } from "./bands.ts";
import { incidentRecords, openIn, recordsBetween } from "./changes.ts";
import type { Begin, Journal, JournalStep } from "./journal.ts";
import { VERSION, windowRecord, type JournalRecord, type RunRecord, type SubjectRecord } from "./record.ts";

/** If steps are further apart, nobody knows what happened between them. */
const MAX_STEP_MS = 15_000;
/** The longest time for the last write. */
const STOP_MS = 2000;

export interface RecorderDeps {
  readonly version: string;
  readonly shard: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives each record, except for the state of everything that begins a day. */
  readonly onRecord: (record: JournalRecord) => void;
  /** The journal; `undefined` without storage. */
  readonly journal: Journal | undefined;
}

/** What is known of a cluster. */
interface RecordedCluster {
  readonly verdict: ClusterVerdict;
  /** The incidents; `undefined` before they are reported for the first time. */
  readonly incidents: ClusterIncidents | undefined;
}

/** Makes records of verdicts, and records the instant until which everything was judged. */
export interface Recorder extends Listener {
  /** From now on a step takes these sources; nothing is recorded of a time before. */
  follow(sources: Pick<Sources, "verdicts" | "windows">): void;
  /** Records a window that began, or whose end has changed. */
  planned(window: MaintenanceWindow): void;
  /** Judges everything, and writes the changes, unless a step is in progress or nothing is followed. Never rejects. */
  step(): Promise<void>;
  /** Stops within two seconds. */
  stop(): Promise<void>;
}

type Judged = Pick<JournalStep, "atMs" | "seenMs" | "isContinuous">;

export function createRecorder({ version, shard, clock, logger, onRecord, journal }: RecorderDeps): Recorder {
  /** The keys are the names of clusters. */
  const latest = new Map<string, RecordedCluster>();
  let latestMs: number | undefined;
  let sources: Pick<Sources, "verdicts" | "windows"> | undefined;
  let judging: Promise<Judged | undefined> | undefined;
  /** The running windows of the configuration that were recorded, by id. */
  const configured = new Map<string, MaintenanceWindow>();
  /** Whether what goes on has changed since the latest step. */
  let isOngoingChanged = true;

  function record(one: JournalRecord): void {
    onRecord(one);
    journal?.record(one);
  }

  async function step(): Promise<void> {
    if (judging !== undefined || sources === undefined) return;
    judging = judged(sources).catch(failed);
    const now = await judging;
    judging = undefined;
    // Together: the journal writes the records until here, or this state in their place.
    if (now === undefined) return;
    const all = [...latest.values()];
    const changed = { isOngoingChanged: isOngoingChanged || !now.isContinuous };
    isOngoingChanged = false;
    await journal?.flush({ ...now, ...changed, state: stateOf(all), ongoing: ongoingOf(all, now.atMs) });
  }

  /** Records windows of the configuration that began, and those that a new configuration has ended early. */
  function recordConfigured(
    before: ClusterVerdict | undefined,
    now: ClusterVerdict | undefined,
    atMs: number,
  ): void {
    const running = configuredIn(now);
    for (const window of running) {
      if (configured.has(window.id)) continue;
      configured.set(window.id, window);
      record(windowRecord(window, atMs));
    }
    const known = new Set(running.map(({ id }) => id));
    for (const window of configuredIn(before).filter(({ id }) => !known.has(id) && configured.has(id))) {
      const isElsewhere = [...latest.values()].some(({ verdict }) =>
        configuredIn(verdict).some(({ id }) => id === window.id),
      );
      if (isElsewhere) continue;
      configured.delete(window.id);
      const isChanged = sources?.windows.commanded().some(({ id }) => id === window.id) === true;
      if (window.endMs > atMs && !isChanged) record(windowRecord({ ...window, endMs: atMs }, atMs));
    }
  }

  function failed(error: unknown): undefined {
    logger.error({ detail: describeBug(error) }, "what is judged could not be recorded");
  }

  /** Takes a last step after the step in progress. */
  async function end(): Promise<void> {
    await judging;
    await step();
    await journal?.stop();
  }

  async function judged({ verdicts }: Pick<Sources, "verdicts">): Promise<Judged> {
    const atMs = clock.wallMs();
    await verdicts();
    const seenMs = clock.wallMs();
    const sinceMs = atMs - (latestMs ?? atMs);
    const isContinuous = sinceMs >= 0 && sinceMs <= MAX_STEP_MS;
    latestMs = atMs;
    // Timelines take each record at once, so they take the latest of each cluster, whatever is judged meanwhile.
    if (!isContinuous) await beginRun({ why: "gap" }, seenMs, latest.values(), onRecord);
    onRecord({ at: instantOf(atMs), kind: "alive" });
    return { atMs, seenMs, isContinuous };
  }

  /** Returns what makes the records of what goes on, when the journal writes them. */
  function ongoingOf(all: readonly RecordedCluster[], atMs: number): () => Promise<readonly JournalRecord[]> {
    const windows = sources?.windows.commanded() ?? [];
    return async () => {
      const records: JournalRecord[] = windows.map((window) => windowRecord(window, atMs));
      await inSlices(all, ({ verdict, incidents }) => {
        records.push(...incidentRecords(verdict.facts.cluster, incidents?.all ?? [], atMs));
        if (verdict.planned !== undefined)
          records.push(...recordsBetween(undefined, verdict, atMs).filter(isWrong));
      });
      return [...records, { at: instantOf(atMs), kind: "alive" }];
    };
  }

  function stateOf(all: readonly RecordedCluster[]): JournalStep["state"] {
    return async (begin, atMs) => {
      const records: JournalRecord[] = [];
      await beginRun(begin, atMs, all, (one) => void records.push(one));
      return records;
    };
  }

  /** Calls back with a run and the state of everything by these verdicts and incidents. */
  async function beginRun(
    begin: Begin,
    atMs: number,
    all: Iterable<RecordedCluster>,
    add: (one: JournalRecord) => void,
  ): Promise<void> {
    add(runOf(begin, atMs));
    for (const window of [...(sources?.windows.commanded() ?? []), ...configured.values()])
      add(windowRecord(window, atMs));
    await inSlices(all, ({ verdict, incidents }) => {
      recordsBetween(undefined, verdict, atMs).forEach(add);
      incidentRecords(verdict.facts.cluster, openIn(incidents), atMs).forEach(add);
    });
  }

  function runOf(begin: Begin, atMs: number): RunRecord {
    return { at: instantOf(atMs), kind: "run", v: VERSION, ...begin, version, shard };
  }

  onRecord(runOf({ why: "start" }, clock.wallMs()));
  return {
    judged: (before, now, atMs) => {
      if (now !== undefined) {
        const { cluster } = now.facts;
        latest.set(cluster, { verdict: now, incidents: latest.get(cluster)?.incidents });
      } else if (before !== undefined) latest.delete(before.facts.cluster);
      if (before?.planned !== now?.planned) recordConfigured(before, now, atMs);
      const records = recordsBetween(before, now, atMs);
      // What began before a window, and what began in it.
      const isOtherWindow = before?.planned !== now?.planned;
      isOngoingChanged ||= isOtherWindow || (now?.planned !== undefined && records.length > 0);
      records.forEach(record);
    },
    happened: ({ cluster, news, now }, atMs) => {
      isOngoingChanged = true;
      const known = latest.get(cluster);
      if (known !== undefined) latest.set(cluster, { ...known, incidents: now });
      // The first ones include those of an earlier run: a reader may have the file of a day alone.
      const all = known?.incidents === undefined ? [...openIn(now), ...news] : news;
      incidentRecords(cluster, all, atMs).forEach(record);
    },
    planned: (window) => {
      isOngoingChanged = true;
      record(windowRecord(window, clock.wallMs()));
    },
    reloaded: (ok, atMs) => record({ at: instantOf(atMs), kind: "reload", ok }),
    follow: (given) => void (sources = given),
    step,
    stop: async () => {
      await Promise.race([end(), new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    },
  };
}

/** Returns the windows of the configuration that run, as configured. */
function configuredIn(verdict: ClusterVerdict | undefined): readonly MaintenanceWindow[] {
  const all = verdict?.planned?.windows ?? [];
  const own = all.filter(({ origin, changedBy }) => origin === "configuration" && changedBy === undefined);
  return own.map(({ id, scope, beginMs, endMs, comment, by, origin }) => {
    return { id, scope, beginMs, endMs, comment, by, origin };
  });
}

function isWrong(record: SubjectRecord): boolean {
  return bandOf(record) !== "up";
}
