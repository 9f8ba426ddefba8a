import { isSubject, subjectKey, type JournalRecord } from "./record.ts";

/** A record as a line that is not written yet. */
export interface WaitingLine {
  readonly at: string;
  readonly text: string;
  /** @see keyOf */
  readonly key: string | undefined;
  readonly isIncident: boolean;
}

/** The lines in memory that the disk does not take yet, in at most 8 MiB. */
export interface WaitingLines {
  /**
   * Adds the line of a record, and returns whether all lines still wait. If there are too many, only lines about incidents wait, in up to half of the
   * memory.
   */
  add(record: JournalRecord, text: string): boolean;
  all(): readonly WaitingLine[];
  keepOnly(isKept: (line: WaitingLine) => boolean): void;
}

const MAX_BYTES = 8 * 2 ** 20;

export function createWaitingLines(): WaitingLines {
  let lines: WaitingLine[] = [];
  let bytes = 0;

  function keepOnly(isKept: (line: WaitingLine) => boolean): void {
    lines = lines.filter(isKept);
    bytes = lines.reduce((sum, { text }) => sum + text.length, 0);
  }

  return {
    add: (record, text) => {
      const line = { at: record.at, text, key: keyOf(record) };
      lines.push({ ...line, isIncident: record.kind === "incident" });
      bytes += text.length;
      if (bytes <= MAX_BYTES) return true;
      // The state of everything will be written again, but the ends of incidents will not.
      keepOnly(({ isIncident }) => isIncident);
      if (bytes > MAX_BYTES / 2) keepOnly(() => false);
      return false;
    },
    all: () => lines,
    keepOnly,
  };
}

/** Returns what identifies the subject of a record, if a later record can replace this one. */
export function keyOf(record: JournalRecord): string | undefined {
  if (isSubject(record)) return subjectKey(record);
  return record.kind === "incident" ? record.incident.id : undefined;
}
