import { groupBy } from "../support/group-by.ts";
import type { PlannedDocument } from "./schema.ts";
import type { ClusterVerdict } from "./verdict.ts";
import { instantOf } from "./words.ts";

/** So many clusters, appliances and masters are named. */
const NAMED = 24;

/** The work that goes on in any cluster, by its end. */
export function plannedDocuments(verdicts: readonly ClusterVerdict[]): PlannedDocument[] {
  const parts = verdicts.flatMap(({ facts, planned }) =>
    (planned?.windows ?? []).map((window) => {
      const masters = planned?.masters.filter(({ appliance }) => window.members.includes(appliance)) ?? [];
      return { window, masters, subjects: window.isWhole ? [facts.cluster] : window.members };
    }),
  );
  const windows = [...groupBy(parts, ({ window }) => window.id).values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const { id, beginMs, endMs, comment, by, origin } = first.window;
    const subjects = own.flatMap((part) => part.subjects);
    const more = subjects.length - NAMED;
    return {
      id,
      begin: instantOf(beginMs),
      end: instantOf(endMs),
      comment,
      by,
      isDrill: origin === "drill",
      subjects: subjects.slice(0, NAMED),
      moreSubjects: more > 0 ? more : undefined,
      masters: own.flatMap((part) => part.masters).slice(0, NAMED),
    };
  });
  return windows.toSorted((one, other) => Date.parse(one.end) - Date.parse(other.end));
}
