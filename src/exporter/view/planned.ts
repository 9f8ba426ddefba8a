import type { ComingDocument, PlannedDocument, ProblemDocument } from "../document/schema.ts";
import type { Level } from "../judge/states.ts";
import { mastersInWords, NAMED } from "../judge/words.ts";
import { count, listed } from "../../support/text.ts";
import { inWords, kindsOf } from "./words.ts";

/** The most sentences in the headline. */
const SHOWN = 3;

/** Returns a sentence for each window, by its end, without a full stop: `Planned until 2026-11-21 14:00 UTC: firmware 4.6 (alice, waf-ams-1)`. */
export function plannedSentences(planned: readonly PlannedDocument[]): readonly string[] {
  const more = planned.length - SHOWN;
  return [
    ...planned.slice(0, SHOWN).map(plannedSentence),
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

function minuteOf(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;
}

function plannedSentence({
  end,
  comment,
  by,
  subjects,
  moreSubjects = 0,
  masters,
  isDrill,
}: PlannedDocument): string {
  const until = minuteOf(end);
  const names = listed(subjects, NAMED, subjects.length + moreSubjects);
  const who = by === undefined ? names : `${by}, ${names}`;
  const first = masters.map(({ appliance, addresses, masters: all }) => {
    const others = all === undefined ? "" : ` (${mastersInWords(all)})`;
    return `. ${appliance} is still MASTER of ${count(addresses, "address", "addresses")}${others}: hand over first`;
  });
  return [`${isDrill ? "Drill" : "Planned"} until ${until}: ${comment} (${who})`, ...first].join("");
}

/** Returns how urgent a problem is. Planned problems are not urgent. */
export function urgencyOf({ severity, isPlanned = false }: ProblemDocument): {
  readonly level: Level;
  readonly words: string;
} {
  return isPlanned ? { level: "well", words: "Planned" } : { level: severity, words: inWords(severity) };
}

/** Returns the problems of a cluster in words, or else the planned ones; `undefined` if there are no problems. */
export function troubleIn(problems: readonly ProblemDocument[]): string | undefined {
  const counted = problems.filter(({ isPlanned }) => isPlanned !== true);
  if (counted.length > 0) return kindsOf(counted);
  return problems.length === 0 ? undefined : `Planned: ${kindsOf(problems).toLowerCase()}`;
}
