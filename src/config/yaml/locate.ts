import { isAlias, isMap, isSeq, LineCounter, type Alias, type Node } from "yaml";
import type { ConfigError } from "../config.ts";
import type { JsonPath } from "../errors.ts";
import { keyText, startOf } from "./data.ts";

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
 * that is missing, the start of the map that lacks it. Aliases are followed to their anchors.
 */
export function locateOffset(root: Node | null, targets: ReadonlyMap<Alias, Node>, path: JsonPath): number {
  let node = follow(root, targets);
  let offset = startOf(node);
  for (const segment of path) {
    const step = stepInto(node, segment);
    if (!step) return startOf(node);
    offset = startOf(step.at);
    node = follow(step.to, targets);
  }
  return offset;
}

/** `at`: what to point at; `to`: the value. */
function stepInto(node: unknown, segment: string | number): { at: unknown; to: unknown } | undefined {
  if (isSeq(node)) {
    const item = typeof segment === "number" ? node.items[segment] : undefined;
    return item === undefined ? undefined : { at: item, to: item };
  }
  const pair = isMap(node) ? node.items.find(({ key }) => keyText(key) === segment) : undefined;
  return pair && { at: pair.key, to: pair.value };
}

function follow(node: unknown, targets: ReadonlyMap<Alias, Node>): unknown {
  return isAlias(node) ? targets.get(node) : node;
}
