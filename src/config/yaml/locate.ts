import { isAlias, isMap, isSeq, LineCounter, type Alias, type Node, type Pair, type YAMLMap } from "yaml";
import type { ConfigError } from "../config.ts";
import type { JsonPath } from "../errors.ts";
import { isMerge, scalarText, startOf } from "./data.ts";

export type Position = NonNullable<ConfigError["position"]>;

/** Line and column of an offset into the text, both from 1 on. */
export function createLineIndex(text: string): (offset: number) => Position {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  return (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

/** Finds what a path leads to. Aliases are followed to their anchors, and `<<` to what it takes over. */
export interface Locator {
  /**
   * The offset of what stands at `path`: of the key in a map, of the item in a list. Where the path leads on to something
   * that is missing, the start of the map that lacks it.
   */
  offsetOf(path: JsonPath): number;
  /** The node that `path` leads to; `undefined` where there is none. */
  nodeAt(path: JsonPath): unknown;
}

/** `at`: what to point at; `to`: the value. */
interface Step {
  readonly at: unknown;
  readonly to: unknown;
}

type Pairs = ReadonlyMap<unknown, Pair>;

/** A step costs the same in a map of any size: the pairs of a map are indexed when the first of them is looked up. */
export function createLocator(root: Node | null, targets: ReadonlyMap<Alias, Node>): Locator {
  const indexes = new Map<YAMLMap, Pairs>();
  const follow = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);

  /** Its own pairs, and before them those that it takes over: of two with one key, the later one counts. */
  function indexPairs(map: YAMLMap): Pairs {
    const merged = follow(map.items.find(isMerge)?.value);
    const maps = (isSeq(merged) ? merged.items : [merged]).map(follow).filter((node) => isMap(node));
    const own = map.items.filter((pair) => !isMerge(pair));
    return new Map([
      ...maps.toReversed().flatMap((each) => [...pairsOf(each)]),
      ...own.map((pair) => [scalarText(pair.key), pair] as const),
    ]);
  }

  function pairsOf(map: YAMLMap): Pairs {
    const pairs = indexes.get(map) ?? indexPairs(map);
    indexes.set(map, pairs);
    return pairs;
  }

  function stepInto(node: unknown, segment: string | number): Step | undefined {
    if (isSeq(node)) {
      const item = typeof segment === "number" ? node.items[segment] : undefined;
      return item === undefined ? undefined : { at: item, to: item };
    }
    const pair = isMap(node) ? pairsOf(node).get(segment) : undefined;
    return pair && { at: pair.key, to: pair.value };
  }

  return {
    offsetOf: (path) => {
      let node = follow(root);
      let offset = startOf(node);
      for (const segment of path) {
        const step = stepInto(node, segment);
        if (!step) return startOf(node);
        offset = startOf(step.at);
        node = follow(step.to);
      }
      return offset;
    },
    nodeAt: (path) =>
      path.reduce<unknown>((node, segment) => follow(stepInto(node, segment)?.to), follow(root)),
  };
}
