import { applianceProblems } from "./problems/appliances.ts";
import { groupProblems } from "./problems/groups.ts";
import { interfaceProblems } from "./problems/interfaces.ts";
import { recalledProblems, type Recalled } from "./problems/recalled.ts";
import { websiteProblems } from "./problems/websites.ts";
import { PROBLEM_KINDS, type ClusterDocument, type Problem } from "./schema.ts";
import { instantOf } from "./words.ts";

const SEVERITIES: readonly Problem["severity"][] = ["critical", "warning", "unknown"];

/** Unix times in milliseconds. */
export interface ProblemFacts {
  readonly nowMs: number;
  /** Of the configuration; `undefined`: never failed, or not since it last succeeded. */
  readonly reloadFailedAtMs: number | undefined;
  readonly recalled: Recalled;
}

/**
 * Everything that is wrong with these clusters, worst first: by severity, then by kind, then in the
 * order of the configuration. What follows from something else that is told is left out.
 */
export function problemsOf(
  clusters: readonly ClusterDocument[],
  { nowMs, reloadFailedAtMs, recalled }: ProblemFacts,
): readonly Problem[] {
  const all = clusters.flatMap((cluster) => [
    ...groupProblems(cluster),
    ...interfaceProblems(cluster),
    ...applianceProblems(cluster, nowMs),
    ...websiteProblems(cluster),
  ]);
  const problems = [
    ...all,
    ...recalledProblems(recalled),
    ...notReloaded(reloadFailedAtMs),
    ...notPolledYet(clusters),
  ];
  return bounded(problems.toSorted((a, b) => rank(a) - rank(b)));
}

/** Problems of one kind and severity in one cluster; another one counts the rest. */
const MAX_ALIKE = 100;

function bounded(problems: readonly Problem[]): readonly Problem[] {
  const keys = problems.map(({ severity, kind, cluster }) => `${severity} ${kind} ${cluster}`);
  const totals = new Map<string, number>();
  for (const key of keys) totals.set(key, (totals.get(key) ?? 0) + 1);
  const seen = new Map<string, number>();
  return problems.flatMap((problem, index) => {
    const key = keys[index] ?? "";
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    if (nth <= MAX_ALIKE) return problem;
    if (nth > MAX_ALIKE + 1) return [];
    const { kind, severity, cluster } = problem;
    const count = (totals.get(key) ?? 0) - MAX_ALIKE;
    return { kind, severity, cluster, summary: `${count} more problems of this kind in cluster ${cluster}` };
  });
}

function rank({ severity, kind }: Problem): number {
  return SEVERITIES.indexOf(severity) * PROBLEM_KINDS.length + PROBLEM_KINDS.indexOf(kind);
}

function notReloaded(failedAtMs: number | undefined): readonly Problem[] {
  if (failedAtMs === undefined) return [];
  const summary = "The configuration could not be reloaded: the one before it is in force";
  return [{ kind: "reload_failed", severity: "warning", summary, since: instantOf(failedAtMs) }];
}

function notPolledYet(clusters: readonly ClusterDocument[]): readonly Problem[] {
  const pending = clusters.flatMap(({ appliances }) =>
    appliances.filter(
      ({ poll, websites }) =>
        poll.state === "pending" || websites.some((each) => each.poll.state === "pending"),
    ),
  );
  if (pending.length === 0) return [];
  const [only] = pending;
  const who = pending.length === 1 && only !== undefined ? only.name : `${pending.length} appliances`;
  const summary = `Not everything of ${who} was polled yet`;
  return [{ kind: "not_polled_yet", severity: "unknown", summary }];
}
