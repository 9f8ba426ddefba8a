import { bandOf, isUnanswered } from "./bands.ts";
import { endsKnowledge, isSubject, subjectKey, type JournalRecord, type SubjectRecord } from "./record.ts";

/** A subject that is in the state of the record, from that Unix time in milliseconds on. */
export interface LastingRecord {
  readonly record: SubjectRecord;
  readonly sinceMs: number;
}

/** Converts records, oldest first, into the times in which states are known. */
export interface Fold {
  /** `key` is the result of `subjectKey`, if the caller has it. */
  read(record: JournalRecord, key?: string): void;
  /** Ends all states at the latest record. */
  end(): void;
  /** The states that are known now, and the changing ones, by `subjectKey`. */
  readonly lasting: ReadonlyMap<string, LastingRecord>;
  /** The subjects that are watched now while nobody answers. */
  readonly unanswered: ReadonlyMap<string, LastingRecord>;
}

type OnTime = (record: SubjectRecord, fromMs: number, toMs: number) => void;

/**
 * Calls back for each time in which a subject was known to be in a state: in order, not empty, without overlaps. The time between the calls
 * is unknown. A group that changes has the state that follows from the beginning of the change. If time goes back, the first known state
 * stays. `onUnanswered` is called for each part of the unknown time in which the subject was watched, and nobody answered.
 */
export function createFold(onKnown: OnTime, onUnanswered: OnTime = () => {}): Fold {
  const lasting = new Map<string, LastingRecord>();
  const unanswered = new Map<string, LastingRecord>();
  let latestMs = Number.NEGATIVE_INFINITY;

  function close({ record, sinceMs }: LastingRecord, toMs: number): void {
    if (toMs > sinceMs && bandOf(record) !== "changing") onKnown(record, sinceMs, toMs);
  }

  /** Ends the states of one cluster, or of all. */
  function closeAll(cluster?: string): void {
    for (const [key, each] of lasting) {
      if (cluster !== undefined && each.record.cluster !== cluster) continue;
      close(each, latestMs);
      lasting.delete(key);
    }
    for (const [key, { record }] of unanswered)
      if (cluster === undefined || record.cluster === cluster) closeUnanswered(key);
  }

  function closeUnanswered(key: string): void {
    const { record, sinceMs = latestMs } = unanswered.get(key) ?? {};
    if (record !== undefined && latestMs > sinceMs) onUnanswered(record, sinceMs, latestMs);
    unanswered.delete(key);
  }

  function readSubject(record: SubjectRecord, key: string): void {
    const old = lasting.get(key);
    const band = bandOf(record);
    if (old !== undefined && isSame(old.record, record)) return;
    if (old !== undefined) close(old, latestMs);
    const wasChanging = old !== undefined && bandOf(old.record) === "changing";
    if (!isUnanswered(record)) closeUnanswered(key);
    else if (!unanswered.has(key))
      unanswered.set(key, { record, sinceMs: wasChanging ? old.sinceMs : latestMs });
    if (band === "unknown") lasting.delete(key);
    else lasting.set(key, { record, sinceMs: wasChanging ? old.sinceMs : latestMs });
  }

  return {
    lasting,
    unanswered,
    read: (record, key) => {
      const atMs = Date.parse(record.at);
      // Nothing is known up to a run, and all is known up to the loss of a cluster.
      if (record.kind === "run" && endsKnowledge(record)) closeAll();
      latestMs = Math.max(latestMs, atMs);
      if (record.kind === "lost") closeAll(record.cluster);
      if (isSubject(record)) readSubject(record, key ?? subjectKey(record));
    },
    end: () => closeAll(),
  };
}

/** Whether two records of a subject have the same state, or two records of a cluster the same worst band. */
function isSame(one: SubjectRecord, other: SubjectRecord): boolean {
  return bandOf(one) === bandOf(other) && (one.kind === "cluster" || one.state === other.state);
}
