import type { MaintenanceScope } from "../config/config.ts";
import { coverageOf, type MaintenanceWindow } from "../maintenance/window.ts";
import { groupBy } from "../../support/group-by.ts";
import { problemsOf } from "../judge/problems.ts";
import type { ComingDocument, PlannedDocument } from "./schema.ts";
import type { ClusterVerdict } from "../judge/verdict.ts";
import { instantOf } from "../judge/words.ts";

/** The most clusters, appliances and masters that are named. */
const NAMED = 24;

/** Returns sentences on unplanned problems of the subjects that a scope covers; the first 24. */
export function remainingProblems(
  verdicts: readonly ClusterVerdict[],
  scope: MaintenanceScope,
): readonly string[] {
  const covered = verdicts.filter(({ facts }) => coverageOf(scope, facts) !== undefined);
  const problems = problemsOf(covered).filter(({ isPlanned }) => isPlanned !== true);
  return problems.slice(0, NAMED).map(({ summary }) => summary);
}

/** Returns windows that have not begun, with what they cover of these clusters; `undefined` if none covers a part of one. */
export function comingDocuments(
  coming: readonly MaintenanceWindow[],
  verdicts: readonly ClusterVerdict[],
): ComingDocument[] | undefined {
  const all = coming.flatMap(({ id, scope, beginMs, endMs, comment }) => {
    const subjects = verdicts.flatMap(({ facts }) => {
      const coverage = coverageOf(scope, facts);
      return coverage === undefined ? [] : coverage.isWhole ? [facts.cluster] : coverage.members;
    });
    const [begin, end] = [instantOf(beginMs), instantOf(endMs)];
    return subjects.length === 0 ? [] : [{ id, begin, end, comment, subjects: subjects.slice(0, NAMED) }];
  });
  return all.length === 0 ? undefined : all;
}

/** Returns the windows that have begun and not ended, of any cluster, by their ends. */
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
      masters: own
        .flatMap((part) => part.masters)
        .slice(0, NAMED)
        .map(({ masters, ...each }) => ({ ...each, masters: masters && [...masters] })),
    };
  });
  return windows.toSorted((one, other) => Date.parse(one.end) - Date.parse(other.end));
}
