import type { TimeRange } from "../journal/day-files.ts";
import { endsKnowledge, isSubject, subjectKey, type JournalRecord } from "../journal/record.ts";

/** Converts records, oldest first, into the times in which subjects are part of the configuration. */
export interface Presence {
  read(record: JournalRecord): void;
  /** The keys are those of `subjectKey`. A subject that is there at the end remains. */
  end(): ReadonlyMap<string, readonly TimeRange[]>;
}

/** The beginning of a subject's time. `toMs` is the end of the run that recorded the subject last, if that run is over. */
interface Present {
  readonly cluster: string;
  readonly fromMs: number;
  readonly toMs?: number;
}

/**
 * Creates a reader of records, in which a subject is there until it is gone. A subject that is recorded within `settledMs` of a start was
 * there when the start began; any other was removed.
 */
export function createPresence(settledMs: number): Presence {
  const all = new Map<string, TimeRange[]>();
  const open = new Map<string, Present>();
  let latestMs = Number.NEGATIVE_INFINITY;
  let beginMs = latestMs;
  let isSettled = false;

  function close(key: string, toMs: number): void {
    const { fromMs = toMs } = open.get(key) ?? {};
    all.set(key, [...(all.get(key) ?? []), { fromMs, toMs }]);
    open.delete(key);
  }

  function begin(atMs: number): void {
    for (const [key, { toMs = latestMs, ...each }] of open) open.set(key, { ...each, toMs });
    [beginMs, isSettled] = [atMs, false];
  }

  function settle(): void {
    isSettled = true;
    for (const [key, { toMs }] of open) if (toMs !== undefined) close(key, toMs);
  }

  /** Nothing says any more what of a cluster is gone. */
  function stay(lost: string): void {
    for (const [key, { cluster, fromMs }] of open) if (cluster === lost) open.set(key, { cluster, fromMs });
  }

  return {
    read: (record) => {
      const atMs = Math.max(latestMs, Date.parse(record.at));
      // Behind damage, unlike behind another begin of a run, nothing says what is still there.
      if (record.kind === "run" && endsKnowledge(record) && record.why !== "damage") begin(atMs);
      latestMs = atMs;
      if (!isSettled && atMs - beginMs >= settledMs) settle();
      if (record.kind === "lost") stay(record.cluster);
      if (!isSubject(record)) return;
      const key = subjectKey(record);
      if (record.state === "gone") close(key, atMs);
      else {
        const { cluster } = record;
        open.set(key, { cluster, fromMs: open.get(key)?.fromMs ?? (isSettled ? atMs : beginMs) });
      }
    },
    end: () => {
      for (const key of open.keys()) close(key, Number.POSITIVE_INFINITY);
      return all;
    },
  };
}
