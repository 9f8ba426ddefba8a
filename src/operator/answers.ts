import type { ClusterDocument, ReadinessDocument, ReadyDocument } from "../exporter/document/schema.ts";

type ReadyVerdict = ReadyDocument["verdict"];

/** An answer to whether visitors lose nothing if an appliance stops, in one sentence. */
export interface ReadyAnswer extends ReadyDocument {
  readonly cluster: string;
  /** The appliance; `undefined` for groups of the cluster of which no appliance is the known MASTER. */
  readonly appliance?: string;
  readonly failover?: ReadinessDocument | undefined;
}

/**
 * Returns the answers of the document for the appliances with these names, and for each MASTER in the clusters with these names; without
 * names, in all clusters of several appliances. Work within the windows `within` does not count.
 */
export function answersOf(
  clusters: readonly ClusterDocument[],
  names: readonly string[],
  within: readonly string[] = [],
): readonly ReadyAnswer[] {
  return clusters.flatMap((cluster) => {
    const { name: of, appliances, groups, masterless } = cluster;
    const isNamed = names.includes(of);
    const isWhole = appliances.length > 1 && (names.length === 0 || isNamed);
    // A name without an answer would look ready beside others that are ready.
    const isAlone = appliances.length === 1 && isNamed;
    const masters = groups.flatMap(({ members }) => members.filter(({ role }) => role === "master"));
    const asked = appliances.filter(({ name }) => {
      return (
        isAlone || names.includes(name) || (isWhole && masters.some((master) => master.appliance === name))
      );
    });
    const answers = asked.map(({ name, ready = unanswered(name), failover }): ReadyAnswer => {
      return { cluster: of, appliance: name, ...inside(ready, within), failover };
    });
    const isOlder = appliances.every(({ ready }) => ready === undefined);
    const others = masterless ?? (isOlder && asked.length === 0 ? unanswered(of) : undefined);
    return isWhole && others !== undefined ? [...answers, { cluster: of, ...others }] : answers;
  });
}

/** Returns the answer to somebody who works within these windows. */
function inside({ apart, ...ready }: ReadyDocument, within: readonly string[]): ReadyDocument {
  if (apart === undefined || !apart.windows.every((id) => within.includes(id))) return { ...ready, apart };
  return { verdict: apart.verdict, summary: apart.summary };
}

/** Returns the answer at an exporter whose document has none. */
function unanswered(name: string): ReadyDocument {
  const summary = `${name}: the exporter is older than this command, and does not say what would be lost: upgrade it`;
  return { verdict: "unknown", summary };
}

/** Returns the worst verdict: `not_ready`, then `unknown`, also if there is no answer. */
export function verdictOn(answers: readonly ReadyAnswer[]): ReadyVerdict {
  const verdicts = new Set(answers.map(({ verdict }) => verdict));
  if (verdicts.has("not_ready")) return "not_ready";
  return verdicts.has("unknown") || !verdicts.has("ready") ? "unknown" : "ready";
}
