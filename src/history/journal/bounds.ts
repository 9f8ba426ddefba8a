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
  /** Returns the number of records that were left out. */
  left(): number;
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
    admit: (record, bytes) => {
      if (record.kind === "run" || record.kind === "alive") return record;
      const cluster = "cluster" in record ? record.cluster : "";
      const used = usedBy(cluster);
      const key = isSubject(record) ? subjectKey(record) : record.kind;
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
