import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatShard, WHOLE_FLEET, type Shard } from "../../exporter/config/shard.ts";
import type { History } from "../../exporter/history.ts";
import { createJournal, type StorageOptions } from "../journal/journal.ts";
import { DamagedLines } from "../journal/lines.ts";
import { createRecorder } from "../journal/recorder.ts";
import { readPast } from "../journal/past.ts";
import type { JournalRecord } from "../journal/record.ts";
import { MOST_INCIDENTS, restore } from "../journal/restore.ts";
import { selectLines } from "../journal/selection.ts";
import type { Restored } from "../../exporter/board/board.ts";
import type { KnownIncident } from "../../exporter/document/schema.ts";
import type { Clock } from "../../support/clock.ts";
import { errorCode, messageOf } from "../../support/errors.ts";
import { keepLatest } from "../../support/keep-latest.ts";
import type { Logger } from "../../support/log.ts";
import { createTimelines } from "./timelines.ts";

/** The longest time that the start waits for an answer of the file system of the journal. */
const RESTORE_MS = 2000;
/** A kill loses less than five seconds. Midnight is a step. */
const STEP_MS = 4000;
/** The length of the time that the timelines show. */
const PAST_MS = 30 * 86_400_000;

export interface HistoryOptions {
  /** The folder of the journal, and the limits of what stays; default: none. */
  readonly storage?: StorageOptions | undefined;
  readonly version: string;
  /** Default: the whole fleet. */
  readonly shard?: Shard | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Opens the history: timelines in memory, and a journal if there is a folder for one, from which it reads the state with which the exporter
 * continues. That is empty if the journal cannot be read in time.
 */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const { version, shard = WHOLE_FLEET, storage, clock, logger } = options;
  const journal = storage && createJournal(storage, { clock, logger });
  const damages = createDamages(logger);
  const restored = await restoredWithin(options, damages.add);
  const [timelines, startedAtMs] = [createTimelines(), clock.wallMs()];
  const names = { version, shard: formatShard(shard) };
  const recorder = createRecorder({ ...names, clock, logger, onRecord: timelines.read, journal });
  let timer: NodeJS.Timeout | undefined;

  /** Adds the last 30 days of earlier runs to the timelines; returns their incidents. */
  async function addPast({ path }: StorageOptions): Promise<readonly KnownIncident[]> {
    const [past, incidents] = [createTimelines(), new Map<string, Map<string, KnownIncident>>()];
    const range = { fromMs: startedAtMs - PAST_MS, toMs: startedAtMs };
    function read(record: JournalRecord): void {
      past.read(record);
      if (record.kind === "incident") keep(incidents, record.incident);
    }
    // The reason why the folder cannot be read was logged before.
    await readPast(path, range, read, damages.add).catch(() => {});
    timelines.addPast(past.end());
    return [...incidents.values()].flatMap((own) => [...own.values()]);
  }

  function planStep(): void {
    timer = setTimeout(
      () => {
        planStep();
        void recorder.step();
      },
      STEP_MS - (clock.wallMs() % STEP_MS),
    );
  }

  return {
    ...recorder,
    restored,
    strips: { strip: timelines.strip, damages: damages.all },
    journal: journal && { ...journal, damagedLines: damages.lines },
    read: storage && ((selection) => selectLines(storage.path, selection, damages.add)),
    start: ({ onIncidents, ...sources }) => {
      recorder.follow(sources);
      planStep();
      if (storage !== undefined) void addPast(storage).then(onIncidents);
    },
    stop: () => {
      clearTimeout(timer);
      return recorder.stop();
    },
  };
}

/** Keeps the latest incidents of a cluster; an incident that is known already is replaced. */
function keep(all: Map<string, Map<string, KnownIncident>>, incident: KnownIncident): void {
  const own = all.get(incident.cluster) ?? new Map<string, KnownIncident>();
  all.set(incident.cluster, own);
  keepLatest(own, incident.id, incident, MOST_INCIDENTS);
}

/** The damage of the journal that was found so far. */
interface Damages {
  /** Logs the damage of a file once, since the same file is read again and again. */
  add(path: string, error: unknown): void;
  /** Returns a text for each file: `2026-11-26.jsonl: damaged or missing: line 17`. */
  all(): readonly string[];
  /** Returns the number of damaged lines. */
  lines(): number;
}

function createDamages(logger: Logger): Damages {
  const files = new Map<string, unknown>();
  return {
    add: (path, error) => {
      if (files.has(path)) return;
      files.set(path, error);
      logger.warn({ path, detail: messageOf(error) }, "a file of the journal cannot be read as a whole");
    },
    all: () => Array.from(files, ([path, error]) => `${basename(path)}: ${messageOf(error)}`),
    lines: () =>
      [...files.values()].reduce<number>(
        (sum, error) => sum + (error instanceof DamagedLines ? error.count : 0),
        0,
      ),
  };
}

/** Returns the state that an earlier run left in the journal; nothing if it cannot be read in time. */
async function restoredWithin(
  { storage, clock, logger }: HistoryOptions,
  onDamaged: Damages["add"],
): Promise<Restored> {
  const nothing = { memories: new Map(), ongoing: new Map(), incidents: [], windows: [] };
  if (storage === undefined) return nothing;
  const { path } = storage;
  const at = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
  let answeredMs = clock.monotonicMs();
  const reading = restore(path, at, {
    onDamaged,
    onLeftOut: (left) =>
      logger.warn(
        { path: left },
        "a file of the journal is too large for a start, which takes its latest part",
      ),
    onProgress: () => {
      answeredMs = clock.monotonicMs();
    },
  });
  const silent = silence(() => clock.monotonicMs() - answeredMs);
  try {
    return await Promise.race([reading, silent]);
  } catch (error) {
    // A new folder has no journal yet.
    if (errorCode(error) !== "ENOENT")
      logger.warn({ path, detail: messageOf(error) }, "the journal cannot be read");
    return nothing;
  }
}

/** Rejects when the file system has not answered for two seconds. */
async function silence(silentMs: () => number): Promise<never> {
  for (;;) {
    await sleep(RESTORE_MS - Math.min(silentMs(), RESTORE_MS - 1), undefined, { ref: false });
    // A busy process takes an answer that is there before it gives up.
    await new Promise((resolve) => setImmediate(resolve));
    if (silentMs() >= RESTORE_MS)
      throw new Error(`the file system does not answer within ${RESTORE_MS / 1000} s`);
  }
}
