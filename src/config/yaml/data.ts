import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  type Alias,
  type Document,
  type Node,
  type Pair,
} from "yaml";
import type { Problems } from "./problems.ts";

/** Values that all aliases of a file may stand for together: ten thousand appliances that share their settings. */
const MAX_ALIASED_VALUES = 1_000_000;

/** A document's values. */
export interface YamlData {
  readonly data: unknown;
  /** The node that each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

interface Reading {
  readonly anchors: Map<string, { readonly node: Node; value: Value | undefined }>;
  readonly targets: Map<Alias, Node>;
  readonly problems: Problems;
  aliasedValues: number;
}

interface Value {
  readonly data: unknown;
  /** How many values it holds, itself among them, aliases followed. */
  readonly size: number;
}

const NOTHING: Value = { data: undefined, size: 1 };
const NONE: Value = { data: undefined, size: 0 };

/**
 * The document as plain values: maps with unique keys that are plain words, aliases followed within a bound, so that
 * neither a bomb nor a circle comes through. What is wrong with its form is added to `problems`. Recursive: the caller
 * has bounded the nesting.
 */
export function readYamlData(document: Document, problems: Problems): YamlData {
  const reading: Reading = { anchors: new Map(), targets: new Map(), problems, aliasedValues: 0 };
  const { data } = readNode(document.contents, reading);
  return { data, targets: reading.targets };
}

function readNode(node: unknown, reading: Reading): Value {
  if (isAlias(node)) return readAlias(node, reading);
  if (!isScalar(node) && !isCollection(node)) return { data: null, size: 1 };
  const anchored = { node, value: undefined as Value | undefined };
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, anchored);
  anchored.value = isScalar(node)
    ? { data: node.value, size: 1 }
    : readCollection(node.items, isMap(node), reading);
  return anchored.value;
}

function readCollection(items: readonly unknown[], map: boolean, reading: Reading): Value {
  return map ? readMap(items.filter(isPair), reading) : readList(items, reading);
}

function readList(items: readonly unknown[], reading: Reading): Value {
  const values = items.map((item) => readNode(item, reading));
  return { data: values.map(({ data }) => data), size: sizeOf(values) };
}

function readMap(pairs: readonly Pair[], reading: Reading): Value {
  const entries = new Map<string, Value>();
  let merged: Value | undefined;
  for (const pair of pairs) {
    const { key, value } = pair;
    const isTwice = isMerge(pair) ? merged !== undefined : entries.has(scalarText(key) ?? "");
    if (isTwice) addProblem(reading, key, "this key stands here twice");
    if (isMerge(pair)) merged = readMerge(pair, reading);
    else {
      const name = readKey(key, reading);
      const read = readNode(value, reading);
      if (name !== undefined) entries.set(name, read);
    }
  }
  const own = [...entries].map(([name, value]) => [name, value.data] as const);
  const data: unknown = Object.assign({}, merged?.data, Object.fromEntries(own));
  return { data, size: sizeOf([...entries.values(), merged ?? NONE]) };
}

/** Whether the pair takes over the entries of other maps, which those of its own map go before. @see YAML, `!!merge` */
export function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN";
}

/** The entries of one map or of several, the first of which goes before the others. */
function readMerge({ key, value }: Pair, reading: Reading): Value {
  const read = readNode(value, reading);
  const maps: readonly unknown[] = Array.isArray(read.data) ? read.data : [read.data];
  if (!maps.every(isRecord)) {
    // What an alias stands for is missing where that has been told of already.
    if (read !== NOTHING) addProblem(reading, key, "expected a map or a list of maps behind <<");
    return NOTHING;
  }
  return { data: Object.assign({}, ...maps.toReversed()), size: read.size };
}

/** Whether it is a map of a document's values. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readKey(key: unknown, reading: Reading): string | undefined {
  const name = scalarText(key);
  // A key of this name would vanish in the validation instead of being refused there.
  if (name !== undefined && name !== "__proto__") return name;
  addProblem(reading, key, "expected a key that is a plain word");
  return undefined;
}

/**
 * A scalar as text, a number or a truth value as it is written: `007` and `7` are two keys. `undefined` for an empty one,
 * an alias, a list or a map.
 */
export function scalarText(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined;
  const { value, source } = node;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? source : undefined;
}

/** Where a node starts in the text. */
export function startOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}

function readAlias(alias: Alias, reading: Reading): Value {
  const anchored = reading.anchors.get(alias.source);
  if (!anchored) {
    return refuse(
      reading,
      alias,
      "no anchor of this name stands before it; a text that starts with * needs quotes",
    );
  }
  if (!anchored.value) return refuse(reading, alias, "an alias must not stand for what holds it");
  reading.targets.set(alias, anchored.node);
  if (reading.aliasedValues > MAX_ALIASED_VALUES) return NOTHING;
  reading.aliasedValues += anchored.value.size;
  if (reading.aliasedValues <= MAX_ALIASED_VALUES) return anchored.value;
  return refuse(reading, alias, `the aliases up to here stand for more than ${MAX_ALIASED_VALUES} values`);
}

function refuse(reading: Reading, node: Node, message: string): Value {
  addProblem(reading, node, message);
  return NOTHING;
}

function addProblem({ problems }: Reading, node: unknown, message: string): void {
  problems.add(startOf(node), message);
}

function sizeOf(values: readonly Value[]): number {
  return values.reduce((sum, { size }) => sum + size, 1);
}
