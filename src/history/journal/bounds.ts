import { isSubject, subjectKey, type JournalRecord } from "./record.ts";

/** The most bytes of a cluster in a day of the journal. Windows and reloads together have as many. */
const CLUSTER_BYTES = 2 * 2 ** 20;
/** The most bytes of one subject of a cluster, and of its incidents. */
const SUBJECT_BYTES = CLUSTER_BYTES / 8;

interface Used {
  bytes: number;
  isLost: boolean;
  /** Infinite for a subject that may have no more. */
  readonly byKey: Map<string, number>;
}

/** Limits the bytes that one appliance, or one client, can add to the shared journal in a day. */
export interface Bounds {
  /**
   * Returns the record to write for a record of so many bytes; `undefined` if it is left out. The last record of a subject that changes too
   * often has no state, and the last one of a cluster says that nothing more is known of the cluster.
   */
  admit(record: JournalRecord, bytes: number): JournalRecord | undefined;
  /** Whether nothing more of the subject of a record is written on this day. */
  isSpent(record: JournalRecord): boolean;
  /** Returns the number of records that were left out. */
  left(): number;
}

function clusterOf(record: JournalRecord): string {
  return "cluster" in record ? record.cluster : "";
}

function keyOf(record: JournalRecord): string {
  return isSubject(record) ? subjectKey(record) : record.kind;
}

/**
 * Creates the bounds of a day whose file may have so many bytes. Half of them are for whoever comes first, and the other half is divided
 * among the clusters: what some of them write takes nothing from the share of another one.
 */
export function createBounds(dayBytes: number): Bounds {
  const clusters = new Map<string, Used>();
  const half = dayBytes / 2;
  let total = 0;
  let left = 0;

  function usedBy(cluster: string): Used {
    const used = clusters.get(cluster) ?? { bytes: 0, isLost: false, byKey: new Map<string, number>() };
    clusters.set(cluster, used);
    return used;
  }

  function isWithin(clusterBytes: number, bytes: number): boolean {
    if (clusterBytes > CLUSTER_BYTES) return false;
    return clusterBytes <= half / clusters.size || total + bytes <= half;
  }

  function leftOut(): undefined {
    left += 1;
  }

  return {
    left: () => left,
    isSpent: (record) => {
      const used = clusters.get(clusterOf(record));
      return used?.isLost === true || used?.byKey.get(keyOf(record)) === Number.POSITIVE_INFINITY;
    },
    admit: (record, bytes) => {
      if (record.kind === "run" || record.kind === "alive") return record;
      const [cluster, key] = [clusterOf(record), keyOf(record)];
      const used = usedBy(cluster);
      const keyBytes = (used.byKey.get(key) ?? 0) + bytes;
      if (used.isLost || keyBytes === Number.POSITIVE_INFINITY) return leftOut();
      if (!isWithin(used.bytes + bytes, bytes)) {
        used.isLost = true;
        return cluster === "" ? leftOut() : { at: record.at, kind: "lost", cluster };
      }
      const isSpent = keyBytes > SUBJECT_BYTES;
      used.byKey.set(key, isSpent ? Number.POSITIVE_INFINITY : keyBytes);
      used.bytes += bytes;
      total += bytes;
      if (!isSpent) return record;
      return isSubject(record) ? { ...record, state: undefined } : leftOut();
    },
  };
}
