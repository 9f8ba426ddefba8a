import { setTimeout as sleep } from "node:timers/promises";
import { formatShard, WHOLE_FLEET, type Shard } from "../../exporter/config/shard.ts";
import type { History } from "../../exporter/history.ts";
import { createJournal, type StorageOptions } from "../journal/journal.ts";
import { createRecorder } from "../journal/recorder.ts";
import { readPast } from "../journal/past.ts";
import type { JournalRecord } from "../journal/record.ts";
import { restore } from "../journal/restore.ts";
import { selectLines } from "../journal/selection.ts";
import type { Restored } from "../../exporter/board/board.ts";
import type { KnownIncident } from "../../exporter/document/schema.ts";
import type { Clock } from "../../support/clock.ts";
import { errorCode, messageOf } from "../../support/errors.ts";
import type { Logger } from "../../support/log.ts";
import { createTimelines } from "./timelines.ts";

/** The longest time that the start waits for the folder of the journal. */
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
  const restored = await restoredWithin(options);
  const [timelines, startedAtMs] = [createTimelines(), clock.wallMs()];
  const names = { version, shard: formatShard(shard) };
  const recorder = createRecorder({ ...names, clock, logger, onRecord: timelines.read, journal });
  let timer: NodeJS.Timeout | undefined;
  const damagedFiles = new Set<string>();

  /** Logs the damage of a file once, since clients read the same file again and again. */
  function damaged(path: string, error: unknown): void {
    if (damagedFiles.has(path)) return;
    damagedFiles.add(path);
    logger.warn({ path, detail: messageOf(error) }, "a file of the journal cannot be read to its end");
  }

  /** Adds the last 30 days of earlier runs to the timelines; returns their incidents. */
  async function addPast({ path }: StorageOptions): Promise<readonly KnownIncident[]> {
    const [past, incidents] = [createTimelines(), new Map<string, KnownIncident>()];
    const range = { fromMs: startedAtMs - PAST_MS, toMs: startedAtMs };
    function read(record: JournalRecord): void {
      past.read(record);
      if (record.kind === "incident") incidents.set(record.incident.id, record.incident);
    }
    // The reason why the folder cannot be read was logged before.
    await readPast(path, range, read, damaged).catch(() => {});
    timelines.addPast(past.end());
    return [...incidents.values()];
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
    strips: timelines,
    journal,
    read: storage && ((selection) => selectLines(storage.path, selection, damaged)),
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

/** Returns the state that an earlier run left in the journal; nothing if it cannot be read in time. */
async function restoredWithin({ storage, clock, logger }: HistoryOptions): Promise<Restored> {
  const nothing = { memories: new Map(), ongoing: new Map(), incidents: [], windows: [] };
  if (storage === undefined) return nothing;
  const at = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
  const failed = (path: string, error: unknown): Restored => {
    const isNew = errorCode(error) === "ENOENT";
    if (!isNew) logger.warn({ path, detail: messageOf(error) }, "the journal cannot be read");
    return nothing;
  };
  const reading = restore(storage.path, at, failed).catch((error: unknown) => failed(storage.path, error));
  const restored = await Promise.race([reading, sleep(RESTORE_MS, undefined, { ref: false })]);
  const late = `the file system does not answer within ${RESTORE_MS / 1000} s`;
  return restored ?? failed(storage.path, new Error(late));
}
