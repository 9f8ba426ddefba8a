import type { TimeRange } from "../journal/day-files.ts";
import { endsKnowledge, isSubject, subjectKey, type JournalRecord } from "../journal/record.ts";

/** Converts records, oldest first, into the times in which subjects are part of the configuration. */
export interface Presence {
  read(record: JournalRecord): void;
  /** The keys are those of `subjectKey`. A subject that is there at the end remains. */
  end(): ReadonlyMap<string, readonly TimeRange[]>;
}

/**
 * Creates a reader of records, in which a subject is there until it is gone. A subject that is recorded within `settledMs` of a start was
 * there when the start began; any other was removed.
 */
export function createPresence(settledMs: number): Presence {
  const all = new Map<string, TimeRange[]>();
  /** The beginning of each subject's time. `toMs` is the end of the run that recorded the subject last, if that run is over. */
  const open = new Map<string, { readonly fromMs: number; readonly toMs?: number }>();
  let latestMs = Number.NEGATIVE_INFINITY;
  let beginMs = latestMs;
  let isSettled = false;

  function close(key: string, toMs: number): void {
    const { fromMs = toMs } = open.get(key) ?? {};
    all.set(key, [...(all.get(key) ?? []), { fromMs, toMs }]);
    open.delete(key);
  }

  function begin(atMs: number): void {
    for (const [key, { fromMs, toMs = latestMs }] of open) open.set(key, { fromMs, toMs });
    [beginMs, isSettled] = [atMs, false];
  }

  function settle(): void {
    isSettled = true;
    for (const [key, { toMs }] of open) if (toMs !== undefined) close(key, toMs);
  }

  return {
    read: (record) => {
      const atMs = Math.max(latestMs, Date.parse(record.at));
      // Behind damage, unlike behind another begin of a run, nothing says what is still there.
      if (record.kind === "run" && endsKnowledge(record) && record.why !== "damage") begin(atMs);
      latestMs = atMs;
      if (!isSettled && atMs - beginMs >= settledMs) settle();
      if (!isSubject(record)) return;
      const key = subjectKey(record);
      if (record.state === "gone") close(key, atMs);
      else open.set(key, { fromMs: open.get(key)?.fromMs ?? (isSettled ? atMs : beginMs) });
    },
    end: () => {
      for (const key of open.keys()) close(key, Number.POSITIVE_INFINITY);
      return all;
    },
  };
}
