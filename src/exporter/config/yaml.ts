import { dirname, isAbsolute, resolve } from "node:path";
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
  visit,
  type CST,
  type Document,
  type Pair,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import { formatPath, type ConfigError, type JsonPath } from "./errors.ts";
import { NO_SUCH_FILE } from "./read-file.ts";
import type { Collector } from "./sources.ts";
import { groupBy } from "../../support/group-by.ts";
import { once } from "../../support/kept.ts";

/** The plain values of a YAML file and their positions. */
export interface YamlFile {
  /** The path as it was given. */
  readonly file: string;
  readonly data: unknown;
  /** Returns the position of the key or list item at `path`; for a missing key, the position of its map. */
  locate(path: JsonPath): NonNullable<ConfigError["position"]>;
  /** Reports an error at the key or list item at `path`; `shown` is the path in the error. */
  report(path: JsonPath, message: string, shown?: JsonPath): void;
}

/**
 * Reads and parses a YAML 1.2 file of one document. Errors never quote its text, which may contain a secret. `instead` says what to do if
 * there is no such file, `example` what to write into an empty one.
 */
export async function readYamlFile(
  file: string,
  collector: Collector,
  instead = "",
  example = "",
): Promise<YamlFile | undefined> {
  const content = await collector.read(collector.isSyntaxOnly ? "textOrPipe" : "text", resolve(file));
  if (content.ok && !content.text.includes("\uFFFD"))
    return parseYaml(file, content.text, collector, example);
  const { message } = content.ok ? { message: "it is not UTF-8" } : content;
  const folder = isAbsolute(file) ? "" : ` in ${JSON.stringify(dirname(resolve(file)))}`;
  const where = message === NO_SUCH_FILE ? `${folder}${instead}` : "";
  collector.report({ file, path: "", message: `${message}${where}` });
  return undefined;
}

function parseYaml(file: string, text: string, { report }: Collector, example: string): YamlFile | undefined {
  const lineCounter = new LineCounter();
  const positionOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    // An empty text has no line for the counter.
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fail = (offset: number, message: string): undefined => {
    const instead = message === EMPTY ? example : "";
    report({ file, position: positionOf(offset), path: "", message: `${message}${instead}` });
  };
  const content = read(text, lineCounter, fail);
  if (content === undefined) return undefined;
  const offsetOf = createLocator(content.root);
  const locate = (path: JsonPath) => positionOf(offsetOf(path));
  return {
    file,
    data: content.data,
    locate,
    report: (path, message, shown = path) =>
      report({ file, position: locate(path), path: formatPath(shown), message }),
  };
}

/** Reports what is wrong at an offset, in characters from the start of the text. */
type Fail = (offset: number, message: string) => undefined;

/**
 * The limit of levels, many times what a valid file has. The library calls itself for each level, and V8 aborts the process without a
 * stack.
 */
const MAX_LEVELS = 100;
const TOO_DEEP = `expected at most ${MAX_LEVELS} levels: close each [ and {, and check the indent`;

/** Returns the data of a text and the node that it is from; `undefined` after errors. */
function read(text: string, lineCounter: LineCounter, fail: Fail) {
  const parser = new Parser(lineCounter.addNewLine);
  lineCounter.addNewLine(0);
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MAX_LEVELS) return fail(offset, TOO_DEEP);
  }
  const composer = new Composer({
    version: "1.2",
    merge: true,
    stringKeys: true,
    resolveKnownTags: false,
    // The library compares each key with all others of its map.
    uniqueKeys: false,
  });
  const [document, another] = composer.compose([...tokens, ...parser.end()], true, text.length);
  // Most errors after the first one are its consequences.
  const [first] = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  if (first !== undefined) return fail(first.pos[0], describeSyntaxError(first));
  if (another !== undefined) return fail(another.range[0], "expected one document, got more (---)");
  if (document === undefined || document.contents === null) return fail(0, EMPTY);
  if (!areNodesValid(document, lineCounter, fail)) return undefined;
  try {
    // The library would limit aliases to a hundred.
    const data: unknown = document.toJS({ maxAliasCount: -1 });
    return { data, root: document.contents };
  } catch {
    return fail(0, "expected a map or a list of maps after each <<");
  }
}

const EMPTY = "the file is empty";
const NO_TAGS = "tags are not supported; quote a string that starts with !";
const KEY_AND_VALUE = "expected a key, a colon, a space and a value";
const WRONG_INDENT = "wrong indent: start each entry of a map or list in the same column, with - in a list";

/**
 * These texts replace errors of the library, by code and message. The replaced texts quote the file, which may contain a secret, or help
 * only the library's users.
 */
const SYNTAX_ERRORS: readonly (readonly [RegExp, string])[] = [
  [
    /^(BAD_ALIAS|ALIAS_PROPS|MULTIPLE_ANCHORS)/,
    "invalid anchor or alias; quote a string that starts with & or *",
  ],
  [/^(BAD_COLLECTION_TYPE|MULTIPLE_TAGS|TAG_RESOLVE_FAILED)/, NO_TAGS],
  [/^BAD_DIRECTIVE/, "invalid directive; quote a string that starts with %"],
  [/^BAD_DQ_ESCAPE/, "invalid escape; in double quotes, write a backslash twice"],
  [/^BAD_SCALAR_START/, "quote a string that starts with this character"],
  [/^BLOCK_IN_FLOW/, "expected a comma between the entries in { } or [ ]"],
  [/^MULTILINE_IMPLICIT_KEY|map keys need to be followed by map values$/, KEY_AND_VALUE],
  [/^MISSING_CHAR Missing closing ['"]quote$/, "a quote before this is not closed"],
  [/^NON_STRING_KEY/, "expected a plain word as the key"],
  [/^MISSING_CHAR Comments /, "expected a space before #, or quotes around the value"],
  [/^TAB_AS_INDENT/, "indent with spaces, not with tabs"],
  [/^UNEXPECTED_TOKEN/, "unexpected text; check the indent, and the quotes, brackets and commas before it"],
  [/end with (a )?}$/, "expected } before this: a { above is not closed"],
  [/end with (a )?\]$/, "expected ] before this: a [ above is not closed"],
  [
    / Nested mappings/,
    'wrong indent: indent the next line like this key; or quote a value that contains ": " or ends with ":"',
  ],
  [/^BAD_INDENT|start at the same column$|without - indicator$| A block sequence may not/, WRONG_INDENT],
];

function describeSyntaxError({ code, message }: YAMLError): string {
  const [, own] = SYNTAX_ERRORS.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  return own ?? "invalid YAML; check the indent, and the quotes, brackets, colons and commas before it";
}

/** The limit of one file, since the library compares each alias with all anchors and aliases before it. */
const MAX_ANCHORS_AND_ALIASES = 20_000;
const TOO_MANY_ANCHORS = `expected at most ${MAX_ANCHORS_AND_ALIASES} anchors and aliases`;

/**
 * Reports duplicate keys, aliases without an anchor before them, and too many of both, in linear time. The library's own errors about
 * aliases have no position, and quote the text.
 */
function areNodesValid(document: Document, lines: LineCounter, fail: Fail): boolean {
  let areValid = true;
  const report = (node: unknown, message: string): void => {
    areValid = false;
    fail(startOf(node), message);
  };
  const anchors = new Set<string>();
  let count = 0;
  visit(document, {
    Node: (_, node) => {
      for (const { key, first } of isMap(node) ? repeatedKeys(node) : []) {
        const { line, col } = lines.linePos(startOf(first));
        report(key, `duplicate key${nameOf(key)}, first at ${line}:${col}`);
      }
      if (isAlias(node) && !anchors.has(node.source))
        report(node, "unknown anchor; quote a string that starts with *");
      if (!isAlias(node) && node.anchor !== undefined) anchors.add(node.anchor);
      if (!isAlias(node) && node.anchor === undefined) return;
      count += 1;
      if (count === MAX_ANCHORS_AND_ALIASES + 1) report(node, TOO_MANY_ANCHORS);
    },
  });
  return areValid;
}

/** Returns the keys that occur again in a map, each with its first occurrence. */
function repeatedKeys({ items }: YAMLMap): readonly { readonly key: unknown; readonly first: unknown }[] {
  const groups = groupBy(items, ({ key }) => isScalar(key) && key.value);
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ key }) => ({ key, first: first?.key })),
  );
}

/** Returns a key, quoted, if it has the form of the keys of a configuration; another one may be a secret that lacks a space before it. */
function nameOf(key: unknown): string {
  return isScalar(key) && /^[a-z]+(_[a-z0-9]+)*$/.test(String(key.value)) ? ` "${String(key.value)}"` : "";
}

/**
 * Returns a function that finds the offset of the key or list item at a path, or of the innermost one around it. It is fast, since a map
 * may have many wrong keys.
 */
function createLocator(root: unknown): (path: JsonPath) => number {
  const indexOf = once(
    (map: YAMLMap): ReadonlyMap<unknown, Pair> =>
      new Map(map.items.map((pair) => [isScalar(pair.key) && pair.key.value, pair])),
  );
  return (path) => {
    let node = root;
    let at = root;
    for (const segment of path) {
      if (isMap(node)) {
        const pair = indexOf(node).get(segment);
        at = pair?.key ?? at;
        node = pair?.value;
      } else if (isSeq(node) && typeof segment === "number") {
        at = node.items[segment] ?? at;
        node = at;
      }
    }
    return startOf(at);
  };
}

function startOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}
