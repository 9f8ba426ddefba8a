import type { Expected } from "./scenario.ts";

interface Firing {
  readonly expected: readonly Expected[];
}

/**
 * A few of these, which together have each rule fire that `others` leave out: always the one that adds most rules. An alert of two severities
 * is two rules.
 */
export function coverOf<Item extends Firing>(
  items: readonly Item[],
  others: readonly Firing[] = [],
): readonly Item[] {
  const fired = new Set(others.flatMap(rulesOf));
  const [best] = items
    .map((item) => ({ item, adds: new Set(rulesOf(item).filter((rule) => !fired.has(rule))).size }))
    .toSorted((one, other) => other.adds - one.adds);
  if (best === undefined || best.adds === 0) return [];
  return [best.item, ...coverOf(items, [...others, best.item])];
}

export function rulesOf({ expected }: Firing): readonly string[] {
  return expected.map(({ alert, labels }) => `${alert} ${labels["severity"] ?? ""}`);
}
