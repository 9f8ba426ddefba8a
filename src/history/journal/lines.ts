import { crc32 } from "node:zlib";
import { atOf, formatRecord, isKnownKind, kindOf, VERSION } from "./record.ts";

const SUM = ',"sum":"';
const NUMBER = ',"n":';
const SUM_LENGTH = SUM.length + "1a2b3c4d".length + '"}'.length;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The most line numbers that a message names. */
const NAMED = 5;

/**
 * Returns a record's line with its number in the file and a checksum, without the line break. They show which lines are damaged, and whether
 * lines are missing between two.
 */
export function sealed(line: string, nth: number): string {
  const text = `${line.slice(0, -"}".length)}${NUMBER}${nth}`;
  return `${text}${SUM}${checksumOf(text)}"}`;
}

/** A line whose checksum is right, as `formatRecord` wrote it, and its number. */
interface Unsealed {
  readonly line: string;
  readonly nth: number;
}

/** Returns what `sealed` got; `absent` for a line of an earlier version. */
export function unsealed(line: string): Unsealed | "damaged" | "absent" {
  const end = line.length - SUM_LENGTH;
  if (!line.startsWith(SUM, end)) return "absent";
  const text = line.slice(0, end);
  const at = text.lastIndexOf(NUMBER);
  if (at < 0 || `${text}${SUM}${checksumOf(text)}"}` !== line) return "damaged";
  return { line: `${text.slice(0, at)}}`, nth: Number(text.slice(at + NUMBER.length)) };
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

/** The error for the lines of a file that cannot be read. */
export class DamagedLines extends Error {
  readonly count: number;
  /** `lines` has the numbers of the first ones, from 1. */
  constructor(lines: readonly number[], count: number) {
    const more = count > lines.length ? ` and ${count - lines.length} more` : "";
    super(`damaged or missing: ${count === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`);
    this.count = count;
  }
}

/** Reads the lines of one file. */
export interface LineReader {
  /**
   * Returns the records' lines that a line stands for: itself without number and checksum; after damage also a `run` before it; none if it
   * is damaged.
   */
  read(line: string): readonly string[];
  /** Returns the damage; `undefined` if there was none. */
  damage(): DamagedLines | undefined;
}

/** The instant of the latest line of all files that were read so far; empty before the first. */
export interface Progress {
  latest: string;
}

/**
 * Creates a reader of the file of a day. All that ends the knowledge of states becomes a `run` whose `why` is not `day`, at the instant of
 * the next line: damaged lines, missing lines, and a new day that does not follow the line before it. `isWithin`: the reader begins within
 * the file.
 */
export function createLineReader(day: string, progress: Progress, isWithin = false): LineReader {
  const [beginOfDay, endOfDay] = boundsOf(day);
  /** The number of the next line; `undefined` before the first number, and in a run of an earlier version. */
  let next: number | undefined;
  let isFirst = isWithin;
  let place = 0;
  let isDamaged = false;
  let count = 0;
  const first: number[] = [];

  function damaged(): void {
    isDamaged = true;
    count += 1;
    if (first.length < NAMED) first.push(place);
  }

  /** Returns the record's line; `undefined` if it is damaged. */
  function opened(given: string): string | undefined {
    const found = unsealed(given);
    if (found === "damaged") return undefined;
    const line = found === "absent" ? given : found.line;
    if (!INSTANT.test(atOf(line)) || atOf(line) < beginOfDay || atOf(line) > endOfDay) return undefined;
    const isRun = kindOf(line) === "run";
    if (found === "absent") {
      // In a run that has numbers, a line without one is damaged.
      if ((next !== undefined && !isRun) || !isWhole(line)) return undefined;
      next = undefined;
      return line;
    }
    // Of a file that is not read from its begin, the lines are not counted.
    if (isWithin) place = found.nth + 1;
    // Behind a first line that is damaged no number can be wrong.
    const isExpected = found.nth === next || (next === undefined && (isFirst || isDamaged));
    if (!isRun && !isExpected) damaged();
    isFirst = false;
    next = found.nth + 1;
    return line;
  }

  return {
    read: (given) => {
      place += 1;
      const line = opened(given);
      if (line === undefined) {
        damaged();
        if (next !== undefined) next += 1;
        return [];
      }
      const at = atOf(line);
      const isContinued = at === progress.latest && !isDamaged;
      const gap = isDamaged ? [gapAt(at)] : [];
      isDamaged = false;
      if (at > progress.latest) progress.latest = at;
      return kindOf(line) === "run" && !isContinued ? [...gap, asGap(line)] : [...gap, line];
    },
    damage: () => (count === 0 ? undefined : new DamagedLines(first, count)),
  };
}

/** Returns the first and the last instant of a day: the last mark of a day is the begin of the next one. */
function boundsOf(day: string): readonly [string, string] {
  const begin = new Date(`${day}T00:00:00.000Z`);
  const end = new Date(begin.getTime() + 86_400_000);
  return [begin.toISOString(), end.toISOString()];
}

/** Whether a line of an earlier version is a record. Earlier versions have no kinds that this one does not know. */
function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return isKnownKind(kindOf(line));
  } catch {
    return false;
  }
}

/** Returns the line of a run that continues nothing. */
function gapAt(at: string): string {
  return formatRecord({ at, kind: "run", v: VERSION, why: "damage" });
}

function asGap(line: string): string {
  return line.replace('"why":"day"', '"why":"gap"');
}
