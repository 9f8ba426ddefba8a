import { isSubject, subjectKey, type JournalRecord } from "./record.ts";

/** The most bytes of a cluster in a day of the journal. Windows and reloads together have as many. */
const CLUSTER_BYTES = 2 * 2 ** 20;
/** The most bytes of one subject of a cluster, and of its incidents. */
const SUBJECT_BYTES = CLUSTER_BYTES / 8;

interface Used {
  bytes: number;
  /** Infinite for a subject that may have no more. */
  readonly byKey: Map<string, number>;
  /** The run in which a record said that a subject, or the cluster, has no more. */
  readonly saidIn: Map<string, number>;
}

/** The key of the cluster itself in `saidIn`. */
const LOST = "";

/** Limits the bytes that one appliance, or one client, can add to the shared journal in a day. */
export interface Bounds {
  /** Tells the bytes that the file of the day has from earlier runs. */
  began(bytes: number): void;
  /**
   * Returns the record to write for a record of so many bytes; `undefined` if it is left out. The last record of a subject that changes too
   * often has no state, and the last one of a cluster says that nothing more is known of the cluster. A run that begins later in the day
   * has one such record too: what it does not mention would be no part of the configuration any more.
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
  let half = dayBytes / 2;
  let total = 0;
  let left = 0;
  let run = 0;

  function usedBy(cluster: string): Used {
    const used = clusters.get(cluster) ?? { bytes: 0, byKey: new Map(), saidIn: new Map() };
    clusters.set(cluster, used);
    return used;
  }

  function isWithin(clusterBytes: number, bytes: number): boolean {
    if (clusterBytes > CLUSTER_BYTES) return false;
    return clusterBytes <= half / clusters.size || total + bytes <= half;
  }

  /** Returns the record that says the end, once in a run. */
  function last({ saidIn }: Used, key: string, record: JournalRecord | undefined): JournalRecord | undefined {
    const isSaid = saidIn.get(key) === run;
    saidIn.set(key, run);
    if (!isSaid && record !== undefined) return record;
    left += 1;
    return undefined;
  }

  return {
    began: (bytes) => {
      half = Math.max(0, dayBytes - bytes) / 2;
    },
    left: () => left,
    admit: (record, bytes) => {
      if (record.kind === "run") run += 1;
      if (record.kind === "run" || record.kind === "alive") return record;
      const cluster = "cluster" in record ? record.cluster : "";
      const used = usedBy(cluster);
      if (used.saidIn.has(LOST) || !isWithin(used.bytes + bytes, bytes))
        return last(used, LOST, cluster === "" ? undefined : { at: record.at, kind: "lost", cluster });
      const key = isSubject(record) ? subjectKey(record) : record.kind;
      const keyBytes = (used.byKey.get(key) ?? 0) + bytes;
      if (keyBytes > SUBJECT_BYTES) {
        used.byKey.set(key, Number.POSITIVE_INFINITY);
        return last(used, key, isSubject(record) ? { ...record, state: undefined } : undefined);
      }
      used.byKey.set(key, keyBytes);
      used.bytes += bytes;
      total += bytes;
      return record;
    },
  };
}
