import {
  isSubject,
  subjectKey,
  type IncidentRecord,
  type JournalRecord,
  type SubjectRecord,
} from "./record.ts";

/** The most subjects of a cluster in a day of the journal, and the most lines of them all. */
const MAX_SUBJECTS = 10_000;
const MAX_CLUSTER_LINES = 50_000;
/** The most lines of one subject, and of the incidents of a cluster. */
const MAX_LINES = 1000;

interface Counted {
  lines: number;
  readonly byKey: Map<string, number>;
}

/** Limits the records that one appliance can add to the shared journal in a day. */
export interface Bounds {
  /**
   * Returns the record that is to be written for a record; `undefined` if it is left out. The last record of a subject that flaps has no
   * state, and the last one of a cluster says that nothing more is known of the cluster.
   */
  admit(record: JournalRecord): JournalRecord | undefined;
  /** Whether no change of a subject is written any more, so that the subject is unknown for the rest of the day. */
  isSpent(record: JournalRecord): boolean;
  /** Returns the number of records that were left out. */
  left(): number;
}

export function createBounds(): Bounds {
  const clusters = new Map<string, Counted>();
  let left = 0;

  /** Returns the counts of the cluster of a record, and of the subject or the incidents. */
  function countsOf(record: SubjectRecord | IncidentRecord) {
    const counted = clusters.get(record.cluster) ?? { lines: 0, byKey: new Map<string, number>() };
    clusters.set(record.cluster, counted);
    const key = isSubject(record) ? subjectKey(record) : record.kind;
    const count = counted.byKey.get(key) ?? 0;
    const isFull = count === 0 && counted.byKey.size >= MAX_SUBJECTS;
    const isSpent = counted.lines > MAX_CLUSTER_LINES || count >= MAX_LINES || isFull;
    return { counted, key, count, isSpent };
  }

  return {
    left: () => left,
    isSpent: (record) => isCounted(record) && countsOf(record).isSpent,
    admit: (record) => {
      if (!isCounted(record)) return record;
      const { counted, key, count, isSpent } = countsOf(record);
      if (isSpent) {
        left += 1;
        return undefined;
      }
      counted.byKey.set(key, count + 1);
      counted.lines += 1;
      const { at, cluster } = record;
      if (counted.lines > MAX_CLUSTER_LINES) return { at, kind: "lost", cluster };
      return isSubject(record) && count + 1 === MAX_LINES ? { ...record, state: undefined } : record;
    },
  };
}

function isCounted(record: JournalRecord): record is SubjectRecord | IncidentRecord {
  return isSubject(record) || record.kind === "incident";
}
