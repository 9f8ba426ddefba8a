import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ApplianceConfig, MaintenanceConfig } from "../../../src/exporter/config/config.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import { readLines } from "../../../src/history/journal/day-files.ts";
import { createJournal, type StorageOptions } from "../../../src/history/journal/journal.ts";
import { formatRecord, type JournalRecord } from "../../../src/history/journal/record.ts";
import { createWindows } from "../../../src/exporter/maintenance/windows.ts";
import { createRecorder } from "../../../src/history/journal/recorder.ts";
import { restore } from "../../../src/history/journal/restore.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { createStatusBoard } from "../../../src/exporter/board/board.ts";
import { fleetOf, pollsOf } from "../../exporter/fleet/support.ts";
import { configOf } from "../../support/observations.ts";
import { createMemoryLog } from "../../support/exporter.ts";

/** 2026-11-26T12:00:00Z */
export const NOON_MS = Date.parse("2026-11-26T12:00:00Z");
export const DAY_MS = 86_400_000;

/** A path in a temporary folder. */
export async function folderPath(name = "journal"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "journal-"));
  // A journal that was killed may still be writing the file of a closed day.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return join(folder, name);
}

export function storageAt(path: string, given: Partial<StorageOptions> = {}): StorageOptions {
  return { path, retentionMs: 400 * DAY_MS, retentionBytes: 2 ** 30, ...given };
}

/** Receives nothing. */
export const NO_EVENTS = { onDamaged: () => {}, onLeftOut: () => {}, onProgress: () => {} };

/** The lines of records, as an earlier version wrote them. */
export function linesOf(records: readonly JournalRecord[]): string {
  return records.map((record) => `${formatRecord(record)}\n`).join("");
}

/** All lines of a journal. */
export async function linesIn(folder: string): Promise<readonly string[]> {
  const all: string[] = [];
  const range = { fromMs: 0, toMs: Number.POSITIVE_INFINITY };
  const damaged = (path: string, error: unknown): void => void all.push(`damaged: ${path} ${String(error)}`);
  for await (const lines of readLines(folder, range, damaged)) all.push(...lines);
  return all;
}

const NO_POLLS = { started: () => {}, ended: () => {}, observed: () => {}, skipped: () => {} };

/** A run of the exporter from a Unix time on, whose polls and clock the test decides. */
export async function startRun(
  storage: StorageOptions,
  {
    members,
    beginMs,
    maintenance = [],
  }: {
    readonly members: readonly ApplianceConfig[];
    readonly beginMs: number;
    readonly maintenance?: readonly MaintenanceConfig[];
  },
) {
  const log = createMemoryLog();
  const fleet = fleetOf(members);
  const records: JournalRecord[] = [];
  let [nowMs, wallMs] = [0, beginMs];
  const clock = { wallMs: () => wallMs + nowMs, monotonicMs: () => nowMs };
  const nothing = { memories: new Map(), ongoing: new Map(), incidents: [], windows: [] };
  const restored = await restore(storage.path, { wallMs: beginMs, monotonicMs: 0 }, NO_EVENTS).catch(
    () => nothing,
  );
  const { logger } = log;
  const journal = createJournal(storage, { clock, logger });
  const recorder = createRecorder({
    version: "1.2.3",
    shard: "0/1",
    clock,
    logger,
    onRecord: (record) => void records.push(record),
    journal,
  });
  const windows = createWindows({
    clock,
    restored: restored.windows,
    onChange: recorder.planned,
    isMuting: (window) => board.isMuting(window),
    onDrill: () => {},
  });
  windows.configure({ ...configOf(...members), maintenance });
  const board = createStatusBoard({
    version: "1.2.3",
    shard: WHOLE_FLEET,
    fleet,
    self: NO_POLLS,
    listener: recorder,
    restored,
    windows,
    logger,
    clock,
    runner: { confirm: () => undefined, replan: () => undefined, nextPollMs: () => undefined },
  });
  recorder.follow({ verdicts: board.verdicts, windows });
  return {
    journal,
    log,
    records,
    windows,
    document: board.document,
    verdicts: board.verdicts,
    addPast: board.restore,
    /** The configuration has other members from this instant on. */
    reload: (others: readonly ApplianceConfig[], atMs = nowMs): void => {
      nowMs = atMs;
      fleet.configure(configOf(...others), nowMs);
      board.reloaded(true, wallMs + nowMs);
    },
    /** @see pollsOf */
    poll: (words: string): void => {
      for (const { observation, atMs } of pollsOf(words)) {
        nowMs = atMs;
        board.observed(observation);
      }
    },
    observe: (observation: Observation, atMs: number): void => {
      nowMs = atMs;
      board.observed(observation);
    },
    /** Takes the step of that second of the run. */
    step: async (second: number): Promise<void> => {
      nowMs = second * 1000;
      await recorder.step();
    },
    /** Sets the wall clock. */
    setClock: (byMs: number): void => void (wallMs += byMs),
    /** Ends as after SIGKILL: what was not written is lost. */
    kill: journal.stop,
    stop: recorder.stop,
  };
}
