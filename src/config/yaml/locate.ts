import { isAlias, isMap, isSeq, LineCounter, type Alias, type Node, type Pair } from "yaml";
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

/**
 * The offset of what stands at `path`: of the key in a map, of the item in a list. Where the path leads on to something
 * that is missing, the start of the map that lacks it. Aliases are followed to their anchors, and `<<` to what it takes over.
 */
export function locateOffset(root: Node | null, targets: ReadonlyMap<Alias, Node>, path: JsonPath): number {
  let node = follow(root, targets);
  let offset = startOf(node);
  for (const segment of path) {
    const step = stepInto(node, segment, targets);
    if (!step) return startOf(node);
    offset = startOf(step.at);
    node = follow(step.to, targets);
  }
  return offset;
}

/** The node that `path` leads to, aliases followed in the same way; `undefined` where there is none. */
export function nodeAt(root: Node | null, targets: ReadonlyMap<Alias, Node>, path: JsonPath): unknown {
  return path.reduce<unknown>(
    (node, segment) => follow(stepInto(node, segment, targets)?.to, targets),
    follow(root, targets),
  );
}

/** `at`: what to point at; `to`: the value. */
function stepInto(
  node: unknown,
  segment: string | number,
  targets: ReadonlyMap<Alias, Node>,
): { at: unknown; to: unknown } | undefined {
  if (isSeq(node)) {
    const item = typeof segment === "number" ? node.items[segment] : undefined;
    return item === undefined ? undefined : { at: item, to: item };
  }
  const pair = findPair(node, segment, targets);
  return pair && { at: pair.key, to: pair.value };
}

/** Of the map itself, or else of those that it takes over. */
function findPair(
  node: unknown,
  segment: string | number,
  targets: ReadonlyMap<Alias, Node>,
): Pair | undefined {
  if (!isMap(node)) return undefined;
  const own = node.items.find((pair) => !isMerge(pair) && scalarText(pair.key) === segment);
  if (own) return own;
  const merged = follow(node.items.find(isMerge)?.value, targets);
  for (const map of isSeq(merged) ? merged.items : [merged]) {
    const pair = findPair(follow(map, targets), segment, targets);
    if (pair) return pair;
  }
  return undefined;
}

function follow(node: unknown, targets: ReadonlyMap<Alias, Node>): unknown {
  return isAlias(node) ? targets.get(node) : node;
}
