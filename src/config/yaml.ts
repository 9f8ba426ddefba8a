import { resolve } from "node:path";
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
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import { formatPath, sortErrors, type Checked, type ConfigError, type JsonPath } from "./errors.ts";
import type { SourceReader } from "./sources.ts";
import { once } from "../support/once.ts";

/** Keys and values of a file with its aliases expanded: enough for ten thousand appliances that share their settings. */
const MAX_NODES = 2_000_000;

/** The plain values of a YAML file and their positions. */
export interface YamlFile {
  /** The path as given. */
  readonly file: string;
  readonly data: unknown;
  /** The position of the key or list item at `path`; for a missing key, of its map. */
  locate(path: JsonPath): NonNullable<ConfigError["position"]>;
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
  const positionOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    // The counter knows no line of an empty text.
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const errors: ConfigError[] = [];
  const report: Report = (offset, message) =>
    void errors.push({ file, position: positionOf(offset), path: "", message });
  const document = parseDocument(text, {
    version: "1.2",
    merge: true,
    stringKeys: true,
    resolveKnownTags: false,
    lineCounter,
    // Pretty errors quote the text.
    prettyErrors: false,
    uniqueKeys: false,
  });
  const problems = [...document.errors, ...document.warnings];
  const tooDeep = problems.find(({ code }) => code === "RESOURCE_EXHAUSTION");
  for (const { code, pos, message } of tooDeep === undefined ? problems : [tooDeep]) {
    report(pos[0], OWN_MESSAGES[code] ?? message);
  }
  if (document.contents === null) report(0, "the file is empty");
  if (errors.length === 0) expandAliases(document, report);
  const data = errors.length === 0 ? toData(document, report) : undefined;
  if (errors.length > 0) return { ok: false, errors: sortErrors(errors) };
  const offsetOf = createLocator(document.contents);
  return { ok: true, file: { file, data, locate: (path) => positionOf(offsetOf(path)) } };
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
  MULTIPLE_TAGS: NO_TAGS,
  NON_STRING_KEY: "expected a plain word as the key",
  RESOURCE_EXHAUSTION: "nested too deeply",
  TAG_RESOLVE_FAILED: NO_TAGS,
  UNEXPECTED_TOKEN: "unexpected text; check the quotes, brackets and commas before it",
};

/**
 * Replaces each alias by the value that its anchor names, and checks that keys are unique. The library would look through all
 * anchors for each alias, and compare all keys of a map with each other.
 */
function expandAliases(document: Document, report: Report): void {
  const anchors = new Map<string, Node>();
  let count = 0;
  const checkKeys = once(({ items }: YAMLMap) => {
    const keys = new Set<unknown>();
    for (const { key } of items) {
      const name = isScalar(key) ? key.value : key;
      if (keys.has(name)) report(startOf(key), "duplicate key");
      keys.add(name);
    }
  });
  visit(document, {
    Node: (_, node, path) => {
      count += 1;
      if (count > MAX_NODES) {
        report(startOf(node), `more than ${MAX_NODES} keys and values, with aliases expanded`);
        return visit.BREAK;
      }
      if (isMap(node)) checkKeys(node);
      if (isAlias(node)) {
        const value = anchors.get(node.source);
        if (value !== undefined && !path.includes(value)) return value;
        report(startOf(node), "unknown anchor; quote a string that starts with *");
      } else if (node.anchor !== undefined) {
        if ((anchors.get(node.anchor) ?? node) !== node) report(startOf(node), "duplicate anchor");
        anchors.set(node.anchor, node);
      }
      return undefined;
    },
  });
}

function toData(document: Document, report: Report): unknown {
  try {
    return document.toJS();
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
