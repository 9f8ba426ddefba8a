import type { StorageFailure } from "../../exporter/judge/own-problems.ts";
import { mkdir, stat } from "node:fs/promises";
import { errorCode, messageOf } from "../../support/errors.ts";
import type { Clock } from "../../support/clock.ts";
import type { Logger } from "../../support/log.ts";
import { beginOf, DAY_MS, dayOf } from "./day-files.ts";
import { ForeignFile, openDay, type DayWriter } from "./day-writer.ts";
import { lockFolder, type Lock } from "./lock.ts";
import { inSlices } from "../../support/slices.ts";
import { instantOf } from "../../exporter/judge/words.ts";
import { createBounds, type Bounds } from "./bounds.ts";
import { createOldDays } from "./old-days.ts";
import type { Retention } from "./retention.ts";
import { writeOngoing } from "./ongoing-file.ts";
import { formatRecord, withAt, type JournalRecord, type RunRecord } from "./record.ts";
import { createWaitingLines, keyOf, type WaitingLine } from "./waiting-lines.ts";

const FOLDER_MODE = 0o700;
const MAX_DAY_BYTES = 128 * 2 ** 20;
/** The journal is up while its latest write is no older than this. */
const MAX_AGE_MS = 15_000;

export interface StorageOptions extends Retention {
  readonly path: string;
}

/** The reason why a run begins, and the number of records that were left out of the run before. */
export interface Begin extends Pick<RunRecord, "left"> {
  readonly why: "start" | "day" | "gap";
}

/** The instant until which everything was judged, and the state at that instant. */
export interface JournalStep {
  readonly atMs: number;
  /** The Unix time in milliseconds at which the state of this step was seen. */
  readonly seenMs: number;
  /** Whether nothing is unknown between the previous step and this one. */
  readonly isContinuous: boolean;
  /** Returns the records of a run that begins at a Unix time in milliseconds, and of the state of everything then; works in slices. */
  readonly state: (run: Begin, atMs: number) => Promise<readonly JournalRecord[]>;
  /** Returns the records of what goes on, the last one a mark; works in slices. */
  readonly ongoing: () => Promise<readonly JournalRecord[]>;
  /** Whether what goes on has changed since the step before. */
  readonly isOngoingChanged: boolean;
}

/** A step with the records that wait at that instant; later ones are for a later write. */
interface Noted extends JournalStep {
  readonly known: ReadonlySet<WaitingLine>;
}

/** Writes records to the files of days, one write at a time. */
export interface Journal {
  /** Keeps a record until the next write. */
  record(record: JournalRecord): void;
  /** Writes the waiting records and a mark, or does so after the write in flight. Never rejects. */
  flush(step: JournalStep): Promise<void>;
  /** Ends the journal after the write in flight. */
  stop(): Promise<void>;
  isUp(): boolean;
  /** Returns why nothing can be written; `undefined` if the latest write was good. */
  failing(): StorageFailure | undefined;
  bytes(): number;
}

interface JournalDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createJournal(options: StorageOptions, { clock, logger }: JournalDeps): Journal {
  const { path, retentionBytes } = options;
  const maxDayBytes = Math.min(MAX_DAY_BYTES, retentionBytes);
  const waiting = createWaitingLines();
  const oldDays = createOldDays(path, options, { clock, logger });
  /** Whether a record was lost that does not wait here. */
  let isLost = false;
  /** The bounds of today, and the number of records that the bounds of yesterday left out. */
  let bounds = createBounds(maxDayBytes);
  let left: number | undefined;
  let lock: Lock | undefined;
  let writer: DayWriter | undefined;
  /** The reason why the next write begins with the state of everything; `undefined` if the next lines continue the run. */
  let owed: Begin["why"] | undefined = "start";
  /** Whether what goes on has to be written. */
  let isOngoingOwed = true;
  /** The error that turns the journal off until a restart, since two hosts that write to one file would spoil it. */
  let ending: Error | undefined;
  /** The step that the next write notes, and the write in flight. */
  let next: Noted | undefined;
  let writing: Promise<void> = Promise.resolve();
  let busySinceMs: number | undefined;
  let writtenMs = Number.NEGATIVE_INFINITY;
  let failure: StorageFailure | undefined;

  async function openFolder(): Promise<void> {
    if (ending !== undefined) throw ending;
    try {
      await mkdir(path, { mode: FOLDER_MODE });
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    lock ??= await lockOwn();
    if (await lock.isHeld()) return;
    // The lock is not released, since a removal by its path would remove the lock of another exporter.
    lock = undefined;
    throw new ForeignFile(path, "replaced");
  }

  async function lockOwn(): Promise<Lock> {
    const held = await lockFolder(path);
    const { mode, uid } = await stat(path);
    // A volume may belong to root, and to a group that is the exporter's own.
    const others = uid === held.uid ? 0o022 : 0o002;
    if ((mode & others) !== 0)
      logger.warn({ path, mode: (mode & 0o7777).toString(8) }, "others may write the folder of the journal");
    return held;
  }

  /** Ends the file of a day that is over, with everything judged until midnight. */
  async function endDay(old: DayWriter, midnightMs: number): Promise<void> {
    const midnight = instantOf(midnightMs);
    const last = waiting.all().filter(({ at }) => at < midnight);
    await old.append(textsOf(last, beginOf(old.day)), markOf(midnightMs));
    const written = new Set(last);
    waiting.keepOnly((line) => !written.has(line));
  }

  /** Begins another day if it is time, and returns the instant from which a run is known that begins now. */
  async function turnDay(atMs: number, isContinuous: boolean): Promise<number> {
    const day = dayOf(atMs);
    if (writer === undefined || writer.day === day) return atMs;
    const midnightMs = beginOf(day);
    const isNext = midnightMs - beginOf(writer.day) === DAY_MS;
    const goesOn = owed === undefined && isContinuous && isNext;
    if (goesOn) await endDay(writer, midnightMs);
    owed ??= goesOn ? "day" : "gap";
    left = bounds.left() || undefined;
    [writer, bounds] = [undefined, createBounds(maxDayBytes)];
    oldDays.due();
    return goesOn ? midnightMs : atMs;
  }

  async function openToday(atMs: number): Promise<DayWriter> {
    const opened = await openDay(path, dayOf(atMs));
    bounds.began(opened.bytes());
    return opened;
  }

  async function write(step: Noted): Promise<void> {
    await openFolder();
    try {
      // With each begin of a run: what is older than the latest run, an earlier version left.
      const begins = owed !== undefined || isLost || writer?.day !== dayOf(step.atMs);
      if (begins || isOngoingOwed) await writeWhatGoesOn(step);
    } finally {
      // Neither file waits for the other one.
      await writeDay(step);
    }
  }

  async function writeWhatGoesOn({ ongoing }: Noted): Promise<void> {
    // A step meanwhile may bring a later one.
    isOngoingOwed = false;
    try {
      await writeOngoing(path, await ongoing());
    } catch (error) {
      isOngoingOwed = true;
      throw error;
    }
  }

  async function writeDay(step: Noted): Promise<void> {
    const { known } = step;
    if (isLost) owed ??= "gap";
    isLost = false;
    // What a run begins with was not known before it was seen.
    const atMs = owed === undefined ? step.atMs : step.seenMs;
    const beginMs = await turnDay(atMs, step.isContinuous);
    writer ??= await openToday(atMs);
    if (writer.bytes() >= maxDayBytes) throw new Error(`the file of today is full (${maxDayBytes} bytes)`);
    const state = owed === undefined ? [] : await stateLines(owed, beginMs, step);
    const lines = waiting.all().filter((line) => known.has(line));
    const texts = textsOf(lines, owed === undefined ? beginOf(writer.day) : beginMs);
    await writer.append([...state, ...texts], markOf(atMs));
    waiting.keepOnly((line) => !known.has(line));
    [owed, left] = [undefined, undefined];
    void oldDays.tidy(step.atMs);
  }

  /**
   * Returns the state of everything, except for the subjects of the lines that this write adds, which say the later state. The subjects
   * that have reached their limit stay unknown. Each begin of a run has bounds of its own, since it may be tried again for hours.
   */
  async function stateLines(why: Begin["why"], beginMs: number, step: Noted): Promise<readonly string[]> {
    const { known } = step;
    const own = createBounds(maxDayBytes - (writer?.bytes() ?? 0));
    const state = await step.state({ why, left }, beginMs);
    // At midnight, everything that was known before is already written.
    if (why !== "day") waiting.keepOnly((line) => line.isIncident || !known.has(line));
    const added = waiting.all().filter((line) => known.has(line));
    const changed = new Set(added.map(({ key }) => key));
    const [lines, ends] = [Array<string>(), new Set<string>()];
    await inSlices(state, (record) => {
      const key = keyOf(record);
      if (key !== undefined && changed.has(key)) return;
      // A run that did not mention a subject would say that it is not configured any more.
      const end = bounds.endOf(record);
      if (end === undefined) lines.push(...admittedBy(own, record).map(({ text }) => text));
      else ends.add(formatRecord(end));
    });
    return [...lines, ...ends];
  }

  function failed(detail: string): void {
    if (detail !== failure?.detail) logger.warn({ path, detail }, "the journal cannot be written");
    failure = { detail, sinceMs: failure?.sinceMs ?? clock.wallMs() };
  }

  function succeeded(nowMs: number): void {
    if (failure !== undefined) logger.info({ path }, "the journal is written again");
    failure = undefined;
    writtenMs = nowMs;
  }

  /** After this, a file that has changed is opened again, and the time that was not confirmed is a gap. */
  function recover(error: unknown): void {
    if (owed === "day") owed = "gap";
    if (!(error instanceof ForeignFile)) return;
    [owed, isOngoingOwed] = [owed ?? "gap", true];
    if (error.change === "shared") ending = error;
    writer = undefined;
  }

  /** Writes steps until none came meanwhile. */
  async function writeSteps(): Promise<void> {
    for (let step = next; step !== undefined; step = next) {
      next = undefined;
      busySinceMs = clock.monotonicMs();
      try {
        await write(step);
        succeeded(clock.monotonicMs());
      } catch (error) {
        failed(messageOf(error));
        recover(error);
      }
    }
    busySinceMs = undefined;
  }

  return {
    record: (record) => {
      for (const each of admittedBy(bounds, record)) isLost = !waiting.add(each.record, each.text) || isLost;
    },
    flush: async (step) => {
      const nowMs = clock.monotonicMs();
      isLost ||= !step.isContinuous;
      isOngoingOwed ||= step.isOngoingChanged;
      // Records of the day that begins after this step are for its own file.
      const midnight = instantOf(beginOf(dayOf(step.atMs)) + DAY_MS);
      next = { ...step, known: new Set(waiting.all().filter(({ at }) => at < midnight)) };
      if (busySinceMs === undefined) await (writing = writeSteps());
      else if (nowMs - busySinceMs > MAX_AGE_MS) failed("the file system does not answer");
    },
    stop: async () => {
      await writing;
      lock?.release();
    },
    failing: () => failure,
    isUp: () => clock.monotonicMs() - writtenMs <= MAX_AGE_MS,
    bytes: () => oldDays.bytes() + (writer?.bytes() ?? 0),
  };
}

/** Returns the record with its line, as bounds leave it; nothing if they leave it out. */
function admittedBy(
  bounds: Bounds,
  given: JournalRecord,
): readonly { readonly record: JournalRecord; readonly text: string }[] {
  const text = formatRecord(given);
  const record = bounds.admit(given, Buffer.byteLength(text));
  if (record === undefined) return [];
  return [{ record, text: record === given ? text : formatRecord(record) }];
}

/** Returns the texts of lines, each at this Unix time or later: the file of a day has no earlier instants, also if the clock was set back. */
function textsOf(lines: readonly WaitingLine[], fromMs: number): readonly string[] {
  const from = instantOf(fromMs);
  return lines.map(({ at, text }) => (at < from ? withAt(text, from) : text));
}

function markOf(ms: number): string {
  return formatRecord({ at: instantOf(ms), kind: "alive" });
}
