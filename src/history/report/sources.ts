import { resolve } from "node:path";
import { isEqual } from "../../support/kept.ts";
import type { ReadFile, TimeRange } from "../journal/day-files.ts";
import { endsKnowledge, type JournalRecord } from "../journal/record.ts";

/** What the records of a journal say about themselves, for a range of time. */
export interface RunFacts {
  /** The number of starts of the exporter within the range. */
  readonly starts: number;
  /** The number of times at which the exporter stood still or its clock was set, within the range, or lines are missing. */
  readonly gaps: number;
  /** How many starts and gaps are at an earlier time than the records before them: the clock was set back. */
  readonly setBack: number;
  /** The versions and the shards of the exporters that wrote the records, in the order of first mention. */
  readonly versions: readonly string[];
  readonly shards: readonly string[];
  /** The number of records that the journal left out because of its bounds. */
  readonly leftOut: number;
}

/** A journal that was read for a report. */
export interface JournalSource extends RunFacts {
  readonly folder: string;
  readonly files: readonly ReadFile[];
  /** The number of lines that are damaged or missing. */
  readonly damagedLines: number;
  /** The number of files that cannot be read to their end. */
  readonly cutFiles: number;
}

/** Whether two journals are one, or equal copies: what one of them left out, the other one has not left out besides. */
export function isSameJournal(one: JournalSource, other: JournalSource): boolean {
  return (
    resolve(one.folder) === resolve(other.folder) || (one.files.length > 0 && isEqual(one.files, other.files))
  );
}

/** Creates a reader of records, oldest first, that returns the facts about their runs. */
export function createRunFacts({ fromMs, toMs }: TimeRange): {
  readonly read: (record: JournalRecord) => void;
  readonly end: () => RunFacts;
} {
  let [starts, gaps, setBack, leftOut] = [0, 0, 0, 0];
  const [versions, shards] = [new Set<string>(), new Set<string>()];
  /** A day that was compressed while its process was killed may have two files that say the same. */
  const seen = new Set<string>();
  let latestMs = Number.NEGATIVE_INFINITY;
  return {
    read: (record) => {
      const atMs = Date.parse(record.at);
      const isBefore = atMs < latestMs;
      // After a clock was set back, the next run begins later than this one.
      const begins = record.kind === "run" && endsKnowledge(record);
      latestMs = begins ? atMs : Math.max(latestMs, atMs);
      if (record.kind !== "run" || seen.has(record.at)) return;
      seen.add(record.at);
      const { why, version, shard, left = 0 } = record;
      leftOut += left;
      if (version !== undefined) versions.add(version);
      if (shard !== undefined) shards.add(shard);
      if (why === "day" || atMs < fromMs || atMs >= toMs) return;
      if (why === "start") starts += 1;
      else gaps += 1;
      if (isBefore) setBack += 1;
    },
    end: () => ({ starts, gaps, setBack, versions: [...versions], shards: [...shards], leftOut }),
  };
}
