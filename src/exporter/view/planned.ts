import type { ComingDocument, PlannedDocument, ProblemDocument } from "../document/schema.ts";
import { subjectKeys } from "../judge/subjects.ts";
import { mastersInWords, NAMED } from "../judge/words.ts";
import { count, listed } from "../../support/text.ts";
import type { Cell, Row, RowGroup, Tone } from "./row.ts";
import { minuteOf } from "./time.ts";
import { inWords, kindsOf } from "./words.ts";

/** The most sentences in the headline. */
const SHOWN = 3;

/** Returns a sentence for each window, by its end, without a full stop: `Planned until 2026-11-21 14:00 UTC: firmware 4.6 (alice, waf-ams-1)`. */
export function plannedSentences(planned: readonly PlannedDocument[]): readonly string[] {
  const more = planned.length - SHOWN;
  return [
    ...planned.slice(0, SHOWN).map((window) => {
      return `${plannedName(window)} until ${minuteOf(window.end)}: ${plannedWords(window)}`;
    }),
    ...(more > 0 ? [`${count(more, "more window")} of planned work`] : []),
  ];
}

/** Returns a sentence for the next window that has not begun: `Next planned work from 2026-11-29 02:00 UTC to 2026-11-29 04:00 UTC: patch night (ams)`. */
export function comingSentences(coming: readonly ComingDocument[] = []): readonly string[] {
  const more = coming.length - SHOWN;
  return [
    ...coming.slice(0, SHOWN).map(({ begin, end, comment, subjects }) => {
      return `Next planned work from ${minuteOf(begin)} to ${minuteOf(end)}: ${comment} (${listed(subjects, NAMED)})`;
    }),
    ...(more > 0 ? [`${count(more, "more window")} of the configuration`] : []),
  ];
}

export function plannedName({ isDrill }: PlannedDocument): string {
  return isDrill ? "Drill" : "Planned";
}

/** Returns what a window is about: `firmware 4.6 (alice, waf-ams-1)`, and what is to be done first. */
export function plannedWords({ comment, by, subjects, moreSubjects = 0, masters }: PlannedDocument): string {
  const names = listed(subjects, NAMED, subjects.length + moreSubjects);
  const who = by === undefined ? names : `${by}, ${names}`;
  const first = masters.map(({ appliance, addresses, masters: all }) => {
    const others = all === undefined ? "" : ` (${mastersInWords(all)})`;
    return `. ${appliance} is still MASTER of ${count(addresses, "address", "addresses")}${others}: hand over first`;
  });
  return [`${comment} (${who})`, ...first].join("");
}

/** Returns how urgent a problem is. Planned problems are not urgent. */
export function urgencyOf({ severity, isPlanned = false }: ProblemDocument): {
  readonly level: Tone;
  readonly words: string;
} {
  return isPlanned ? { level: "planned", words: "Planned" } : { level: severity, words: inWords(severity) };
}

/** Returns the problems of a cluster in words, or else the planned ones; `undefined` if there are no problems. */
export function troubleIn(problems: readonly ProblemDocument[]): string | undefined {
  const counted = problems.filter(({ isPlanned }) => isPlanned !== true);
  if (counted.length > 0) return kindsOf(counted);
  return problems.length === 0 ? undefined : `Planned: ${kindsOf(problems).toLowerCase()}`;
}

/** Returns the rows of a cluster in which what follows from planned problems is planned, and neither critical nor a warning. */
export function withPlanned(
  groups: readonly RowGroup[],
  problems: readonly ProblemDocument[],
): readonly RowGroup[] {
  const planned = problems.filter(({ isPlanned }) => isPlanned === true);
  if (planned.length === 0) return groups;
  const counted = new Set(
    problems.filter((each) => !planned.includes(each)).flatMap(({ keys = [] }) => keys),
  );
  const isWhole = planned.some(({ keys }) => keys?.includes(subjectKeys.cluster) === true);
  const muted = new Set(planned.flatMap(({ keys = [] }) => keys).filter((key) => !counted.has(key)));
  // A row without a key is about polls, which the problem of the appliance includes.
  const isMuted = ({ keys = [] }: Row): boolean =>
    isWhole ||
    (keys.length === 0
      ? counted.size === 0
      : keys.some((key) => muted.has(key)) && !keys.some((key) => counted.has(key)));
  return groups.map((group) => ({
    ...group,
    rows: group.rows.map((row) => (isMuted(row) ? calmed(row) : row)),
  }));
}

function calmed(row: Row): Row {
  const cells = row.cells.map((cell): Cell => {
    return cell.sign === undefined || cell.sign === "backup" ? cell : { ...cell, sign: calm(cell.sign) };
  });
  return { ...row, level: calm(row.level), cells };
}

function calm(tone: Tone): Tone {
  return tone === "well" ? tone : "planned";
}
