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
/** Levels of nesting. Deeper input would overflow the composer's stack, which ends the process. */
const MAX_DEPTH = 64;
/** Lexer tokens: a usual file of 4 MiB has fewer; a small heap allows fewer. */
const MAX_TOKENS = Math.min(2_500_000, Math.floor(getHeapStatistics().heap_size_limit / 1200));
/** Values that the aliases of a file may add: enough for ten thousand appliances that share their settings. */
const MAX_ALIASED_VALUES = 1_000_000;

type Position = NonNullable<ConfigError["position"]>;

/** The plain values of a YAML file and their positions. */
export interface YamlFile {
  /** The path as given. */
  readonly file: string;
  readonly data: unknown;
  /** The position of the key or list item at `path`; for a missing key, of its map; behind an alias, of the alias. */
  locate(path: JsonPath): Position;
}

export type YamlFileResult =
  | { readonly ok: true; readonly file: YamlFile }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/**
 * Reads and parses a YAML 1.2 file of one document, up to 4 MiB, 64 levels and a million aliased values, in linear time.
 * Errors are in the order of the file and never quote its text, which may contain a secret.
 */
export async function readYamlFile(file: string, readText = readTextFile): Promise<YamlFileResult> {
  const read = await readText(file, MAX_YAML_BYTES);
  return read.ok
    ? parseYaml(file, read.text)
    : { ok: false, errors: [{ file, path: "", message: read.message }] };
}

/** An error at the key or list item at `path`. */
export function errorAt(file: YamlFile, path: JsonPath, message: string): ConfigError {
  return { file: file.file, position: file.locate(path), path: formatPath(path), message };
}

/** Records an error; `offset` counts characters from the start of the text. */
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
  // A file may have millions of errors: only those to show take memory.
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
  // The library checks for duplicate keys in quadratic time; readValues does it instead.
  const composer = new Composer({
    version: "1.2",
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
  });
  composer["onError"] = (source: ErrorSource, code: ErrorCode) =>
    report(offsetOfSource(source), describeSyntaxError(code));
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

/** The tokens up to the first that exceeds a limit. Reports error tokens here: the composer would keep an Error for each. */
function* readTokens(text: string, parser: Parser, report: Report): Generator<CST.Token, void> {
  let count = 0;
  let isInDocument = false;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    for (const token of parser.next(lexeme)) {
      if (token.type === "document") isInDocument = true;
      if (token.type !== "error" && (token.type !== "doc-end" || isInDocument)) yield token;
      else report(token.offset, describeSyntaxError("UNEXPECTED_TOKEN"));
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

/** Replaces the library's messages, which quote the text. */
function describeSyntaxError(code: ErrorCode): string {
  return SYNTAX[code] ?? "invalid YAML";
}

const NO_KEY = "a key is not allowed here; quote a string that contains a colon and a space";
const NO_TAGS = "tags are not supported; quote a string that starts with !";

const SYNTAX: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: "wrong indentation",
  TAB_AS_INDENT: "indentation with a tab; use spaces",
  MISSING_CHAR: "missing closing quote or bracket, comma, colon, or space after one",
  BAD_SCALAR_START: "quote a string that starts with this character",
  BAD_DQ_ESCAPE: "invalid escape; in double quotes, write a backslash twice",
  BLOCK_AS_IMPLICIT_KEY: NO_KEY,
  MULTILINE_IMPLICIT_KEY: NO_KEY,
  TAG_RESOLVE_FAILED: NO_TAGS,
  MULTIPLE_TAGS: NO_TAGS,
  NON_STRING_KEY: "expected a plain word as the key",
};

interface Value {
  readonly data: unknown;
  /** The number of values in it, itself included, with aliases expanded. */
  readonly size: number;
}

const NOTHING: Value = { data: undefined, size: 0 };

/** The plain values of a document: checks that keys are unique, expands aliases, and merges maps for `<<`. */
function readValues(root: Node | null | undefined, report: Report): unknown {
  const anchors = new Map<string, Value>();
  let aliasedValues = 0;

  function read(node: unknown): Value {
    if (isAlias(node)) return readAlias(node.source, startOf(node));
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return { data: null, size: 1 };
    const value = isScalar(node) ? { data: node.value, size: 1 } : readItems(node);
    // After reading the value, which must not contain an alias for itself.
    if (node.anchor !== undefined) anchors.set(node.anchor, value);
    return value;
  }

  function readAlias(name: string, offset: number): Value {
    const value = anchors.get(name);
    if (value === undefined) {
      report(offset, "unknown anchor; quote a string that starts with *");
      return NOTHING;
    }
    if (aliasedValues > MAX_ALIASED_VALUES) return NOTHING;
    aliasedValues += value.size;
    if (aliasedValues <= MAX_ALIASED_VALUES) return value;
    report(offset, `aliases add more than ${MAX_ALIASED_VALUES} values`);
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
      // zod drops this key silently.
      if (name === "__proto__") report(startOf(key), describeSyntaxError("NON_STRING_KEY"));
      if (own.has(name)) report(startOf(key), "duplicate key");
      own.set(name, read(value));
    }
    const merge = pairs.find(isMerge);
    const merged = merge === undefined ? [] : entriesOf(own.get("<<")?.data, startOf(merge.key));
    const entries = new Map([...merged, ...[...own].map(([name, { data }]) => [name, data] as const)]);
    if (merge !== undefined) entries.delete("<<");
    return { data: Object.fromEntries(entries), size: sizeOf([...own.values()]) };
  }

  /** The entries of a map, or of a list of maps; earlier maps take precedence. */
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
