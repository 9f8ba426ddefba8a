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
  /** Tells the bytes that the file of the day has from earlier runs. */
  began(bytes: number): void;
  /**
   * Returns the record to write for a record of so many bytes; `undefined` if it is left out. The last record of a subject that changes too
   * often has no state, and the last one of a cluster says that nothing more is known of the cluster.
   */
  admit(record: JournalRecord, bytes: number): JournalRecord | undefined;
  /** Returns the record that says that nothing more of a record's subject, or of its cluster, is written on this day; `undefined` if more is. */
  endOf(record: JournalRecord): JournalRecord | undefined;
  /** Returns the number of records that were left out. */
  left(): number;
}

function clusterOf(record: JournalRecord): string {
  return "cluster" in record ? record.cluster : "";
}

function keyOf(record: JournalRecord): string {
  return isSubject(record) ? subjectKey(record) : record.kind;
}

function lost({ at }: JournalRecord, cluster: string): JournalRecord | undefined {
  return cluster === "" ? undefined : { at, kind: "lost", cluster };
}

function stateless(record: JournalRecord): JournalRecord | undefined {
  return isSubject(record) ? { ...record, state: undefined } : undefined;
}

/**
 * Creates the bounds of a day whose file may have so many bytes. Half of them are for whoever comes first, and the other half is divided
 * among the clusters: what some of them write takes nothing from the share of another one.
 */
export function createBounds(dayBytes: number): Bounds {
  const clusters = new Map<string, Used>();
  let half = dayBytes / 2;
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

  /** Counts a record that is left out unless it is replaced. */
  function replaced(by: JournalRecord | undefined): JournalRecord | undefined {
    if (by === undefined) left += 1;
    return by;
  }

  return {
    began: (bytes) => {
      half = Math.max(0, dayBytes - bytes) / 2;
    },
    left: () => left,
    endOf: (record) => {
      const cluster = clusterOf(record);
      const used = clusters.get(cluster);
      if (used?.isLost === true) return lost(record, cluster);
      return used?.byKey.get(keyOf(record)) === Number.POSITIVE_INFINITY ? stateless(record) : undefined;
    },
    admit: (record, bytes) => {
      if (record.kind === "run" || record.kind === "alive") return record;
      const [cluster, key] = [clusterOf(record), keyOf(record)];
      const used = usedBy(cluster);
      const keyBytes = (used.byKey.get(key) ?? 0) + bytes;
      if (used.isLost || keyBytes === Number.POSITIVE_INFINITY) return replaced(undefined);
      if (!isWithin(used.bytes + bytes, bytes)) {
        used.isLost = true;
        return replaced(lost(record, cluster));
      }
      if (keyBytes > SUBJECT_BYTES) {
        used.byKey.set(key, Number.POSITIVE_INFINITY);
        return replaced(stateless(record));
      }
      used.byKey.set(key, keyBytes);
      used.bytes += bytes;
      total += bytes;
      return record;
    },
  };
}
