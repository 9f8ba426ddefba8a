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
  type Document,
  type ErrorCode,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { ConfigError } from "./config.ts";
import { formatPath, limitErrors, MAX_ERRORS, moreErrors, type JsonPath } from "./errors.ts";
import { readTextFile } from "./read-file.ts";

const MAX_YAML_BYTES = 4 * 1024 * 1024;
/** Nested collections. Deeper input would overflow the stack of the composer, which kills the process. */
const MAX_DEPTH = 64;
/** Lexer tokens: a file of 4 MiB with words of usual length has fewer. */
const MAX_TOKENS = 2_500_000;
/** Values that all aliases of a file may add: ten thousand appliances that share their settings. */
const MAX_ALIASED_VALUES = 1_000_000;

type Position = NonNullable<ConfigError["position"]>;

/** A YAML file: its plain values, and where each of them stands. */
export interface YamlFile {
  /** As it was given. */
  readonly file: string;
  readonly data: unknown;
  /** The key or list item at `path`. Of a missing key, the map that lacks it; behind an alias, the alias. */
  locate(path: JsonPath): Position;
}

export type YamlFileResult =
  | { readonly ok: true; readonly file: YamlFile }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/**
 * Reads and parses a YAML 1.2 file of one document, up to 4 MiB, 64 levels and a million aliased values, in linear time.
 * Errors are in the order of the file and never quote the text, which may hold a secret.
 */
export async function readYamlFile(file: string, readText = readTextFile): Promise<YamlFileResult> {
  const read = await readText(file, MAX_YAML_BYTES);
  return read.ok
    ? parseYaml(file, read.text)
    : { ok: false, errors: [{ file, path: "", message: read.message }] };
}

/** An error at the key or item that `path` leads to. */
export function errorAt(file: YamlFile, path: JsonPath, message: string): ConfigError {
  return { file: file.file, position: file.locate(path), path: formatPath(path), message };
}

/** Takes down one problem; `offset` is in characters from the start of the text. */
type Report = (offset: number, message: string) => void;

function parseYaml(file: string, text: string): YamlFileResult {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const errors: ConfigError[] = [];
  let count = 0;
  // A file of nothing but mistakes has millions of them: only those that are shown take memory.
  const report: Report = (offset, message) => {
    count += 1;
    if (count <= MAX_ERRORS) errors.push({ file, position: positionOf(offset), path: "", message });
  };
  const root = composeDocument(text, lines, report)?.contents;
  if (count === 0 && !root) report(0, "the file is empty");
  const data = count === 0 ? readValues(root, report) : undefined;
  if (count > errors.length) errors.push(moreErrors(file, count - errors.length));
  if (count > 0) return { ok: false, errors: limitErrors(errors, [file]) };
  return { ok: true, file: { file, data, locate: (path) => positionOf(offsetOf(root, path)) } };
}

function composeDocument(text: string, lines: LineCounter, report: Report): Document | undefined {
  // The library checks for duplicate keys in quadratic time; readValues does it.
  const composer = new Composer({
    version: "1.2",
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
  });
  composer["onError"] = (source: ErrorSource, code: ErrorCode) =>
    report(offsetOfSource(source), wordSyntax(code));
  const tokens = readTokens(text, new Parser(lines.addNewLine), report);
  const [document, second] = composer.compose(tokens, true, text.length);
  if (second) report(second.range?.[0] ?? 0, "expected one document, got more (---)");
  if (document?.directives?.yaml.version !== "1.2") report(0, "expected YAML 1.2");
  return document;
}

type ErrorSource = number | readonly [number, number] | { readonly offset: number };

function offsetOfSource(source: ErrorSource): number {
  if (typeof source === "number") return source;
  return "offset" in source ? source.offset : source[0];
}

/** The tokens up to the first that exceeds a limit. Mistakes among them are reported here: the composer would keep an Error of each. */
function* readTokens(text: string, parser: Parser, report: Report): Generator<CST.Token, void> {
  let count = 0;
  let isInDocument = false;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    for (const token of parser.next(lexeme)) {
      if (token.type === "document") isInDocument = true;
      if (token.type !== "error" && (token.type !== "doc-end" || isInDocument)) yield token;
      else report(token.offset, wordSyntax("UNEXPECTED_TOKEN"));
    }
    const offset = parser.offset - lexeme.length;
    const isDeep = parser.stack.length > MAX_DEPTH && parser.stack.filter(isCollection).length > MAX_DEPTH;
    if (isDeep) report(offset, `nested deeper than ${MAX_DEPTH} levels`);
    else if (count > MAX_TOKENS) report(offset, `more than ${MAX_TOKENS} YAML tokens`);
    else continue;
    return;
  }
  yield* parser.end();
}

function isCollection({ type }: CST.Token): boolean {
  return type === "block-map" || type === "block-seq" || type === "flow-collection";
}

/** Our words for the library's codes: its own messages quote the text. */
function wordSyntax(code: ErrorCode): string {
  return SYNTAX[code] ?? "not valid YAML from here on";
}

const NO_KEY = "a key and its value that do not fit here; a text that holds a colon and a space needs quotes";
const NO_TAGS = "tags are not supported; a text that starts with ! needs quotes";

const SYNTAX: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: "wrong indentation",
  TAB_AS_INDENT: "a tab where spaces must indent",
  MISSING_CHAR: "something is missing: a closing quote or bracket, a comma, a colon, or a space after one",
  BAD_SCALAR_START: "a text that starts with this character needs quotes",
  BAD_DQ_ESCAPE: "no such escape; a backslash in double quotes is written twice",
  BLOCK_AS_IMPLICIT_KEY: NO_KEY,
  MULTILINE_IMPLICIT_KEY: NO_KEY,
  TAG_RESOLVE_FAILED: NO_TAGS,
  MULTIPLE_TAGS: NO_TAGS,
  NON_STRING_KEY: "expected a key that is a plain word",
};

interface Value {
  readonly data: unknown;
  /** How many values it holds, itself included, aliases followed. */
  readonly size: number;
}

const NOTHING: Value = { data: undefined, size: 0 };

/** The plain values of a document: keys are unique, aliases are followed, `<<` takes over the entries of other maps. */
function readValues(root: Node | null | undefined, report: Report): unknown {
  const anchors = new Map<string, Value>();
  let aliasedValues = 0;

  function read(node: unknown): Value {
    if (isAlias(node)) return readAlias(node.source, startOf(node));
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return { data: null, size: 1 };
    const value = isScalar(node) ? { data: node.value, size: 1 } : readItems(node);
    // Only now: an alias within this value must not stand for it.
    if (node.anchor !== undefined) anchors.set(node.anchor, value);
    return value;
  }

  function readAlias(name: string, offset: number): Value {
    const value = anchors.get(name);
    if (value === undefined) {
      report(offset, "no value before this has that anchor; a text that starts with * needs quotes");
      return NOTHING;
    }
    if (aliasedValues > MAX_ALIASED_VALUES) return NOTHING;
    aliasedValues += value.size;
    if (aliasedValues <= MAX_ALIASED_VALUES) return value;
    report(offset, `the aliases up to here stand for more than ${MAX_ALIASED_VALUES} values`);
    return NOTHING;
  }

  function readItems(node: YAMLMap | YAMLSeq): Value {
    if (isMap(node)) return readMap(node.items);
    const values = node.items.map(read);
    return { data: values.map(({ data }) => data), size: sizeOf(values) };
  }

  function readMap(pairs: readonly Pair[]): Value {
    const own = new Map<string, Value>();
    for (const { key, value } of pairs) {
      const name = isScalar(key) && typeof key.value === "string" ? key.value : "";
      // zod drops such a key silently.
      if (name === "__proto__") report(startOf(key), wordSyntax("NON_STRING_KEY"));
      if (own.has(name)) report(startOf(key), "this key stands here twice");
      own.set(name, read(value));
    }
    const merge = pairs.find(isMerge);
    const merged = merge === undefined ? [] : entriesOf(own.get("<<")?.data, startOf(merge.key));
    const entries = new Map([...merged, ...[...own].map(([name, { data }]) => [name, data] as const)]);
    if (merge !== undefined) entries.delete("<<");
    return { data: Object.fromEntries(entries), size: sizeOf([...own.values()]) };
  }

  /** The entries of a map, or of a list of maps of which earlier ones win. */
  function entriesOf(source: unknown, offset: number): readonly (readonly [string, unknown])[] {
    const maps: readonly unknown[] = Array.isArray(source) ? source.toReversed() : [source];
    if (maps.every(isRecord)) return maps.flatMap((map) => Object.entries(map));
    // A missing anchor has been reported.
    if (source !== undefined) report(offset, "expected a map or a list of maps after <<");
    return [];
  }

  return read(root).data;
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === "<<" && key.type === "PLAIN";
}

function sizeOf(values: readonly Value[]): number {
  return values.reduce((sum, { size }) => sum + size, 1);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function offsetOf(root: Node | null | undefined, path: JsonPath): number {
  let node: unknown = root;
  let at: unknown = root;
  for (const segment of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === segment);
      if (pair === undefined) return startOf(node);
      at = pair.key;
      node = pair.value;
    } else if (isSeq(node) && typeof segment === "number") {
      at = node.items[segment] ?? node;
      node = at;
    } else break;
  }
  return startOf(at);
}

function startOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}
