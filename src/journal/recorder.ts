import type { Listener } from "../status/board.ts";
import type { ClusterVerdict } from "../status/verdict.ts";
import { instantOf } from "../status/words.ts";
import type { Clock } from "../support/clock.ts";
import { inSlices } from "../support/slices.ts";
import { recordsBetween } from "./changes.ts";
import type { Journal } from "./journal.ts";
import { VERSION, type JournalRecord, type RunRecord } from "./record.ts";

/** A kill loses less than five seconds. Midnight is a step. */
const STEP_MS = 4000;
/** Between steps that are further apart, nobody knows what happened. */
const MAX_STEP_MS = 15_000;
/** The last write may take so long. */
const STOP_MS = 2000;

export interface RecorderDeps {
  readonly version: string;
  readonly shard: string;
  readonly clock: Clock;
  /** The verdicts about all clusters now, made in slices. */
  readonly verdicts: () => Promise<readonly ClusterVerdict[]>;
  /** Is called with each record, but for the state of everything that begins a day. */
  readonly onRecord: (record: JournalRecord) => void;
  /** `undefined` without storage. */
  readonly journal: Journal | undefined;
}

/** Makes records of what is judged, and notes until when everything was judged. */
export interface Recorder extends Listener {
  start(): void;
  /** Judges everything, and writes what has changed. */
  step(): Promise<void>;
  /** Within two seconds. */
  stop(): Promise<void>;
}

export function createRecorder({
  version,
  shard,
  clock,
  verdicts,
  onRecord,
  journal,
}: RecorderDeps): Recorder {
  let latestMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function record(one: JournalRecord): void {
    onRecord(one);
    journal?.record(one);
  }

  async function step(): Promise<void> {
    const atMs = clock.wallMs();
    const all = await verdicts();
    const sinceMs = atMs - (latestMs ?? atMs);
    const isContinuous = sinceMs >= 0 && sinceMs <= MAX_STEP_MS;
    latestMs = atMs;
    const state = async (why: RunRecord["why"], ms: number) => [runOf(why, ms), ...(await stateOf(all, ms))];
    if (!isContinuous) (await state("gap", atMs)).forEach(onRecord);
    onRecord({ at: instantOf(atMs), kind: "alive" });
    await journal?.flush({ atMs, isContinuous, state });
  }

  function runOf(why: RunRecord["why"], atMs: number): RunRecord {
    return { at: instantOf(atMs), kind: "run", v: VERSION, why, version, shard };
  }

  function plan(): void {
    timer = setTimeout(
      () => {
        plan();
        void step();
      },
      STEP_MS - (clock.wallMs() % STEP_MS),
    );
  }

  return {
    judged: (before, now, atMs) => recordsBetween(before, now, atMs).forEach(record),
    reloaded: (ok, atMs) => record({ at: instantOf(atMs), kind: "reload", ok }),
    start: () => {
      onRecord(runOf("start", clock.wallMs()));
      plan();
    },
    step,
    stop: async () => {
      clearTimeout(timer);
      const ended = step().then(() => journal?.stop());
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    },
  };
}

async function stateOf(all: readonly ClusterVerdict[], atMs: number): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  await inSlices(all, (verdict) => void records.push(...recordsBetween(undefined, verdict, atMs)));
  return records;
}
