import type { ConfigError } from "../config.ts";
import type { Fleet } from "./entries.ts";
import type { Scope } from "./scope.ts";
import { errorAt, type YamlFile } from "../yaml/file.ts";

interface Claim {
  readonly kind: "cluster" | "appliance";
  readonly name: string;
  readonly scope: Scope;
  /** What a cluster and its own members have in common; a lone appliance is its own. */
  readonly cluster: Scope;
}

/**
 * An error at every name that stands for two things: two clusters, two appliances, or a cluster and an appliance of
 * another, for a lone appliance is a cluster too. A cluster may be named like one of its own appliances. The error is at
 * the second of the two, in the order of the files.
 */
export function findDuplicateNames(fleet: Fleet): readonly ConfigError[] {
  const byName = new Map<string, Claim[]>();
  for (const claim of claimsOf(fleet)) {
    const claims = byName.get(claim.name);
    if (claims) claims.push(claim);
    else byName.set(claim.name, [claim]);
  }
  const order = new Map(fleet.files.map((file, index) => [file, index]));
  return [...byName.values()]
    .filter(({ length }) => length > 1)
    .flatMap((claims) => clashesAmong(claims, order));
}

function claimsOf({ clusters, entries }: Fleet): readonly Claim[] {
  return [
    ...clusters.map((scope) => ({ kind: "cluster" as const, scope, cluster: scope })),
    ...entries.map(({ appliance, cluster }) => ({
      kind: "appliance" as const,
      scope: appliance,
      cluster: cluster ?? appliance,
    })),
  ].flatMap((claim) => (claim.scope.name === undefined ? [] : [{ ...claim, name: claim.scope.name }]));
}

function clashesAmong(
  claims: readonly Claim[],
  order: ReadonlyMap<YamlFile, number>,
): readonly ConfigError[] {
  const inOrder = claims
    .map((claim) => ({ claim, file: order.get(claim.scope.file) ?? 0, ...placeOf(claim) }))
    .toSorted((a, b) => a.file - b.file || a.line - b.line || a.column - b.column)
    .map(({ claim }) => claim);
  return inOrder.flatMap((claim) => {
    const first = firstClash(inOrder, claim);
    return first ? [duplicateError(claim, first)] : [];
  });
}

/** The first of the claims before this one that clashes with it; all but a cluster and its own members do. */
function firstClash(inOrder: readonly Claim[], claim: Claim): Claim | undefined {
  for (const earlier of inOrder) {
    if (earlier === claim) return undefined;
    if (clash(earlier, claim)) return earlier;
  }
  return undefined;
}

function clash(a: Claim, b: Claim): boolean {
  return a.kind === b.kind || a.cluster !== b.cluster;
}

function duplicateError({ name, scope }: Claim, first: Claim): ConfigError {
  const { line, column } = placeOf(first);
  const message = `duplicate name ${JSON.stringify(name)}, first at ${first.scope.file.file}:${line}:${column}`;
  return errorAt(scope.file, [...scope.path, "name"], message);
}

function placeOf({ scope }: Claim) {
  return scope.file.locate([...scope.path, "name"]);
}
