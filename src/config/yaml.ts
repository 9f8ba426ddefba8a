import { resolve } from "node:path";
import { getHeapStatistics } from "node:v8";
import {
  Composer,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type CST,
  type ErrorCode,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import type { ConfigError } from "./config.ts";
import { formatPath, sortErrors, type Checked, type JsonPath } from "./errors.ts";
import type { SourceReader } from "./sources.ts";

/** A usual file of 4 MiB has fewer; a small heap allows fewer. */
const MAX_TOKENS = Math.min(2_500_000, Math.floor(getHeapStatistics().heap_size_limit / 1200));
/** Values of a file with its aliases expanded: enough for ten thousand appliances that share their settings. */
const MAX_VALUES = 1_000_000;

type Position = NonNullable<ConfigError["position"]>;

/** The plain values of a YAML file and their positions. */
export interface YamlFile {
  /** The path as given. */
  readonly file: string;
  readonly data: unknown;
  /** The position of the key or list item at `path`; for a missing key, of its map; behind an alias, of the alias. */
  locate(path: JsonPath): Position;
}

/** Reads and parses a YAML 1.2 file of one document. Errors never quote its text, which may contain a secret. */
export async function readYamlFile(
  file: string,
  reader: SourceReader,
): Promise<Checked<{ readonly file: YamlFile }>> {
  const read = await reader.read("text", resolve(file));
  if (!read.ok) return { ok: false, errors: [{ file, path: "", message: read.message }] };
  if (!read.text.includes("\uFFFD")) return parseYaml(file, read.text);
  return { ok: false, errors: [{ file, path: "", message: "it is not UTF-8" }] };
}

/** An error at the key or list item at `path`. */
export function errorAt(file: YamlFile, path: JsonPath, message: string): ConfigError {
  return { file: file.file, position: file.locate(path), path: formatPath(path), message };
}

/** Records an error; `offset` counts characters from the start of the text. */
type Report = (offset: number, message: string) => void;

function parseYaml(file: string, text: string): Checked<{ readonly file: YamlFile }> {
  const lineCounter = new LineCounter();
  lineCounter.addNewLine(0);
  const positionOf = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const errors: ConfigError[] = [];
  const report: Report = (offset, message) =>
    void errors.push({ file, position: positionOf(offset), path: "", message });

  const composer = new Composer({
    version: "1.2",
    // The library compares all keys with each other; readValues takes linear time.
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
  });
  const tokens = readTokens(text, new Parser(lineCounter.addNewLine), report);
  const [document, second] = composer.compose(tokens, true, text.length);
  if (second) report(second.range[0], "expected one document, got more (---)");
  const { contents = null, errors: invalid = [], warnings = [] } = document ?? {};
  const problems = [...invalid, ...warnings];
  const tooDeep = problems.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  for (const { code, pos, message } of tooDeep === undefined ? problems : [tooDeep]) {
    report(pos[0], OWN_MESSAGES[code] ?? message);
  }
  if (errors.length === 0 && contents === null) report(0, "the file is empty");
  const data = errors.length === 0 ? readValues(contents, report) : undefined;
  if (errors.length > 0) return { ok: false, errors: sortErrors(errors) };
  const offsetOf = createLocator(contents);
  return { ok: true, file: { file, data, locate: (path) => positionOf(offsetOf(path)) } };
}

/** The tokens of a text: a file of too many would exhaust the memory, which ends the process. */
function* readTokens(text: string, parser: Parser, report: Report): Generator<CST.Token, void> {
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > MAX_TOKENS) {
      report(parser.offset, `more than ${MAX_TOKENS} YAML tokens; use config_files`);
      return;
    }
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}

const NO_TAGS = "tags are not supported; quote a string that starts with !";

/** Replaces those messages of the library that quote the text, which may be a secret. */
const OWN_MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: "invalid anchor or alias; quote a string that starts with & or *",
  BAD_COLLECTION_TYPE: NO_TAGS,
  BAD_DIRECTIVE: "invalid directive; quote a string that starts with %",
  BAD_DQ_ESCAPE: "invalid escape; in double quotes, write a backslash twice",
  BAD_SCALAR_START: "quote a string that starts with this character",
  MULTIPLE_TAGS: NO_TAGS,
  NON_STRING_KEY: "expected a plain word as the key",
  RESOURCE_EXHAUSTION: "nested too deeply",
  TAG_RESOLVE_FAILED: NO_TAGS,
  UNEXPECTED_TOKEN: "unexpected text; check the quotes, brackets and commas before it",
};

/** The plain values of a document: checks that keys are unique, resolves aliases, and merges maps for `<<`. */
function readValues(root: Node | null, report: Report): unknown {
  const anchors = new Map<string, { readonly data: unknown; readonly size: number }>();
  let count = 0;

  function read(node: unknown): unknown {
    if (isAlias(node)) return readAlias(node.source, startOf(node));
    const before = count;
    add(1, startOf(node));
    const data = readNode(node);
    const anchor = isNode(node) && "anchor" in node ? node.anchor : undefined;
    // After reading the node, which must not contain an alias for itself.
    if (anchor !== undefined) anchors.set(anchor, { data, size: count - before });
    return data;
  }

  function readAlias(name: string, offset: number): unknown {
    const known = anchors.get(name);
    if (known === undefined) report(offset, "unknown anchor; quote a string that starts with *");
    else add(known.size, offset);
    return known?.data;
  }

  function add(values: number, offset: number): void {
    if (count <= MAX_VALUES && count + values > MAX_VALUES) {
      report(offset, `more than ${MAX_VALUES} values, with aliases expanded`);
    }
    count += values;
  }

  function readNode(node: unknown): unknown {
    if (isMap(node)) return readMap(node.items);
    if (isSeq(node)) return node.items.map(read);
    return isScalar(node) ? node.value : null;
  }

  function readMap(pairs: readonly Pair[]): unknown {
    const entries = new Map<string, unknown>();
    let merged: Readonly<Record<string, unknown>> = {};
    for (const pair of pairs) {
      const name = isScalar(pair.key) ? String(pair.key.value) : "";
      if (entries.has(name)) report(startOf(pair.key), "duplicate key");
      entries.set(name, read(pair.value));
      if (isMerge(pair)) merged = merge(entries.get(name), startOf(pair.key));
    }
    if (pairs.some(isMerge)) entries.delete("<<");
    return { ...merged, ...Object.fromEntries(entries) };
  }

  /** Merges a map, or a list of maps; earlier maps take precedence. */
  function merge(source: unknown, offset: number): Readonly<Record<string, unknown>> {
    const maps: readonly unknown[] = Array.isArray(source) ? source.toReversed() : [source];
    if (maps.every(isRecord)) return Object.assign({}, ...maps);
    // A missing anchor has been reported.
    if (source !== undefined) report(offset, "expected a map or a list of maps after <<");
    return {};
  }

  return read(root);
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN";
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Finds positions in constant time for each segment: a map may have thousands of wrong keys. */
function createLocator(root: Node | null): (path: JsonPath) => number {
  const indexes = new Map<unknown, ReadonlyMap<unknown, Pair>>();
  const pairAt = (map: YAMLMap, name: string | number): Pair | undefined => {
    const index =
      indexes.get(map) ?? new Map(map.items.map((pair) => [isScalar(pair.key) && pair.key.value, pair]));
    indexes.set(map, index);
    return index.get(name);
  };
  return (path) => {
    let node: unknown = root;
    let at: unknown = root;
    for (const segment of path) {
      if (isMap(node)) {
        const pair = pairAt(node, segment);
        if (pair === undefined) return startOf(node);
        at = pair.key;
        node = pair.value;
      } else if (isSeq(node) && typeof segment === "number") {
        at = node.items[segment] ?? node;
        node = at;
      } else break;
    }
    return startOf(at);
  };
}

function startOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}
