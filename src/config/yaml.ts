import { dirname, isAbsolute, resolve } from "node:path";
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type ErrorCode,
  type Pair,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import { byPosition, formatPath, type ConfigError, type JsonPath } from "./errors.ts";
import { NO_SUCH_FILE } from "./read-file.ts";
import type { Collector } from "./sources.ts";
import { groupBy } from "../support/group-by.ts";
import { once } from "../support/kept.ts";

/** The plain values of a YAML file and their positions. */
export interface YamlFile {
  /** The path as given. */
  readonly file: string;
  readonly data: unknown;
  /** The position of the key or list item at `path`; for a missing key, of its map. */
  locate(path: JsonPath): NonNullable<ConfigError["position"]>;
  /** Reports an error at the key or list item at `path`. */
  report(path: JsonPath, message: string): void;
}

/**
 * Reads and parses a YAML 1.2 file of one document. Errors never quote its text, which may contain a secret. `instead`: what to do
 * if there is no such file.
 */
export async function readYamlFile(
  file: string,
  collector: Collector,
  instead = "",
): Promise<YamlFile | undefined> {
  const content = await collector.read("text", resolve(file));
  if (content.ok && !content.text.includes("\uFFFD")) return parseYaml(file, content.text, collector);
  const { message } = content.ok ? { message: "it is not UTF-8" } : content;
  const folder = isAbsolute(file) ? "" : ` in ${JSON.stringify(dirname(resolve(file)))}`;
  const where = message === NO_SUCH_FILE ? `${folder}${instead}` : "";
  collector.report({ file, path: "", message: `${message}${where}` });
  return undefined;
}

/** `shown`: the path in the error. */
export function errorAt(file: YamlFile, path: JsonPath, message: string, shown = path): ConfigError {
  return { file: file.file, position: file.locate(path), path: formatPath(shown), message };
}

/** Records an error; `offset` counts characters from the start of the text. */
type ReportAt = (offset: number, message: string) => void;

function parseYaml(file: string, text: string, { report }: Collector): YamlFile | undefined {
  const lineCounter = new LineCounter();
  const positionOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    // The counter knows no line of an empty text.
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const errors: ConfigError[] = [];
  const reportAt: ReportAt = (offset, message) =>
    void errors.push({ file, position: positionOf(offset), path: "", message });
  const document = parseDocument(text, {
    version: "1.2",
    merge: true,
    stringKeys: true,
    resolveKnownTags: false,
    // The library compares each key with all others of its map.
    uniqueKeys: false,
    lineCounter,
    // Pretty errors quote the text.
    prettyErrors: false,
  });
  // Most errors after the first one are its consequences.
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined) reportAt(first.pos[0], describeSyntaxError(first));
  if (document.contents === null) reportAt(0, "the file is empty");
  if (errors.length === 0) checkNodes(document, reportAt);
  const data = errors.length === 0 ? toData(document, reportAt) : undefined;
  errors.toSorted(byPosition).forEach(report);
  if (errors.length > 0) return undefined;
  const offsetOf = createLocator(document.contents);
  const yaml: YamlFile = {
    file,
    data,
    locate: (path) => positionOf(offsetOf(path)),
    report: (path, message) => report(errorAt(yaml, path, message)),
  };
  return yaml;
}

const NO_TAGS = "tags are not supported; quote a string that starts with !";

/** Replaces those messages of the library that quote the text, which may be a secret, or that help only its users. */
const OWN_MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: "invalid anchor or alias; quote a string that starts with & or *",
  BAD_COLLECTION_TYPE: NO_TAGS,
  BAD_DIRECTIVE: "invalid directive; quote a string that starts with %",
  BAD_DQ_ESCAPE: "invalid escape; in double quotes, write a backslash twice",
  BAD_SCALAR_START: "quote a string that starts with this character",
  MULTIPLE_DOCS: "expected one document, got more (---)",
  BLOCK_IN_FLOW: "expected a comma between the entries in { } or [ ]",
  MULTILINE_IMPLICIT_KEY: "expected a key, a colon, a space and a value",
  MULTIPLE_TAGS: NO_TAGS,
  NON_STRING_KEY: "expected a plain word as the key",
  TAB_AS_INDENT: "indent with spaces, not with tabs",
  TAG_RESOLVE_FAILED: NO_TAGS,
  UNEXPECTED_TOKEN: "unexpected text; check the indent, and the quotes, brackets and commas before it",
};

const WRONG_INDENT = "wrong indent: start each entry of a map or list in the same column, with - in a list";

/** By the library's own message, where its code says too little. */
const SYNTAX_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/end with (a )?}$/, "expected } before this: a { above is not closed"],
  [/end with (a )?\]$/, "expected ] before this: a [ above is not closed"],
  [
    /^Nested mappings/,
    'wrong indent: indent the next line like this key; or quote a value that contains ": "',
  ],
  [/start at the same column$|without - indicator$|^A block sequence may not/, WRONG_INDENT],
];

function describeSyntaxError({ code, message }: YAMLError): string {
  const [, own] = SYNTAX_ERRORS.find(([pattern]) => pattern.test(message)) ?? [];
  return own ?? OWN_MESSAGES[code] ?? message;
}

/** In a file. The library compares each alias with all of them before it. */
const MAX_ANCHORS_AND_ALIASES = 20_000;

/**
 * Reports duplicate keys, aliases without an anchor before them, and too many of both, in linear time. The library's own errors
 * about aliases have no position, and quote the text.
 */
function checkNodes(document: Document, report: ReportAt): void {
  const anchors = new Set<string>();
  const places: number[] = [];
  visit(document, {
    Node: (_, node) => {
      if (isMap(node)) checkKeys(node, report);
      if (isAlias(node) || node.anchor !== undefined) places.push(startOf(node));
      if (!isAlias(node)) anchors.add(node.anchor ?? "");
      else if (!anchors.has(node.source))
        report(startOf(node), "unknown anchor; quote a string that starts with *");
    },
  });
  const beyond = places[MAX_ANCHORS_AND_ALIASES];
  if (beyond !== undefined) report(beyond, `expected at most ${MAX_ANCHORS_AND_ALIASES} anchors and aliases`);
}

function checkKeys({ items }: YAMLMap, report: ReportAt): void {
  for (const [, ...others] of groupBy(items, ({ key }) => isScalar(key) && key.value).values())
    for (const { key } of others) report(startOf(key), "duplicate key");
}

function toData(document: Document, report: ReportAt): unknown {
  try {
    // The library would limit aliases to a hundred.
    return document.toJS({ maxAliasCount: -1 });
  } catch {
    report(0, "expected a map or a list of maps after each <<");
    return undefined;
  }
}

/** Finds the offset of the key or list item at a path, or of the innermost one around it: a map may have many wrong keys. */
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
