import { setTimeout } from "node:timers/promises";
import { createJournal, type Journal, type StorageOptions } from "../journal/journal.ts";
import { readPast } from "../journal/past.ts";
import type { JournalRecord } from "../journal/record.ts";
import { restore } from "../journal/restore.ts";
import { selectLines, type Selection } from "../journal/selection.ts";
import type { Restored } from "../status/board.ts";
import type { KnownIncident } from "../status/schema.ts";
import type { Clock } from "../support/clock.ts";
import { errorCode, messageOf } from "../support/errors.ts";
import type { Logger } from "../support/log.ts";
import { createTimelines, type Timelines } from "./timelines.ts";

/** The longest time that the start waits for the folder of the journal. */
const RESTORE_MS = 2000;
/** The length of the time that the timelines show. */
const PAST_MS = 30 * 86_400_000;

export interface HistoryOptions {
  /** The folder of the journal, and the limits of what stays; default: none. */
  readonly storage?: StorageOptions | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The past of the fleet in memory, and in the journal if there is one. */
export interface History {
  readonly timelines: Timelines;
  readonly journal: Journal | undefined;
  /** The restored state; empty without a journal, and if the journal cannot be read in time. */
  readonly restored: Restored;
  /** Adds the last 30 days of earlier runs to the timelines, and calls back with their incidents. */
  addPast(onIncidents: (incidents: readonly KnownIncident[]) => void): Promise<void>;
  /** Returns lines of the journal; `undefined` without a journal. */
  readonly read: ((selection: Selection) => AsyncGenerator<readonly string[]>) | undefined;
}

/** Opens the history, and reads from the journal the state from which the exporter continues. */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const { storage, clock, logger } = options;
  const journal = storage && createJournal(storage, { clock, logger });
  const restored = await restoredWithin(options);
  const [timelines, startedAtMs] = [createTimelines(), clock.wallMs()];
  const damagedFiles = new Set<string>();

  /** Logs the damage of a file once, since clients read the same file again and again. */
  function damaged(path: string, error: unknown): void {
    if (damagedFiles.has(path)) return;
    damagedFiles.add(path);
    logger.warn({ path, detail: messageOf(error) }, "a file of the journal cannot be read to its end");
  }

  return {
    timelines,
    journal,
    restored,
    addPast: async (onIncidents) => {
      if (storage === undefined) return;
      const [past, incidents] = [createTimelines(), new Map<string, KnownIncident>()];
      const range = { fromMs: startedAtMs - PAST_MS, toMs: startedAtMs };
      function read(record: JournalRecord): void {
        past.read(record);
        if (record.kind === "incident") incidents.set(record.incident.id, record.incident);
      }
      // The reason why the folder cannot be read was logged before.
      await readPast(storage.path, range, read, damaged).catch(() => {});
      timelines.addPast(past.end());
      onIncidents([...incidents.values()]);
    },
    read: storage && ((selection) => selectLines(storage.path, selection, damaged)),
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
  const restored = await Promise.race([reading, setTimeout(RESTORE_MS, undefined, { ref: false })]);
  const late = `the file system does not answer within ${RESTORE_MS / 1000} s`;
  return restored ?? failed(storage.path, new Error(late));
}
