import { isSubject, subjectKey, type JournalRecord } from "./record.ts";

/** Of a cluster, so many subjects, and lines of all together, are written in a day. */
const MAX_SUBJECTS = 10_000;
const MAX_CLUSTER_LINES = 50_000;
/** Of a subject that flaps, and of the incidents of a cluster. */
const MAX_LINES = 1000;

interface Counted {
  lines: number;
  readonly byKey: Map<string, number>;
}

/** Limits what one appliance can make everybody's journal hold in a day. */
export interface Bounds {
  /**
   * Returns what is to be written for a record; `undefined` for one that is left out. The last record of a subject that flaps has no
   * state, and the last one of a cluster says that nothing more is known of it.
   */
  admit(record: JournalRecord): JournalRecord | undefined;
  /** How many records were left out. */
  left(): number;
}

export function createBounds(): Bounds {
  const clusters = new Map<string, Counted>();
  let left = 0;

  function leftOut(): undefined {
    left += 1;
  }

  return {
    left: () => left,
    admit: (record) => {
      if (!isSubject(record) && record.kind !== "incident") return record;
      const { at, cluster } = record;
      const counted = clusters.get(cluster) ?? { lines: 0, byKey: new Map<string, number>() };
      clusters.set(cluster, counted);
      const key = isSubject(record) ? subjectKey(record) : record.kind;
      const count = (counted.byKey.get(key) ?? 0) + 1;
      if (counted.lines > MAX_CLUSTER_LINES || count > MAX_LINES) return leftOut();
      if (count === 1 && counted.byKey.size >= MAX_SUBJECTS) return leftOut();
      counted.byKey.set(key, count);
      counted.lines += 1;
      if (counted.lines > MAX_CLUSTER_LINES) return { at, kind: "lost", cluster };
      return isSubject(record) && count === MAX_LINES ? { ...record, state: undefined } : record;
    },
  };
}
