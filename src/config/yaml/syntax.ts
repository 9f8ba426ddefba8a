import { Composer, type CST, type Document, type ErrorCode } from "yaml";
import { TooDeepError, tokensWithinDepth } from "./depth.ts";
import type { Problems } from "./problems.ts";

/**
 * The one document of a YAML 1.2 text, usable only if no problem was added to `problems`: every mistake in the syntax is,
 * in our words. Never throws, never echoes the text.
 */
export function parseYamlText(text: string, problems: Problems): Document | undefined {
  try {
    // The third document is never composed: the second is wrong already.
    const [document, second] = composeDocuments(text, problems);
    if (document) checkDocument(document, second, problems);
    return document;
  } catch (error) {
    if (!(error instanceof TooDeepError)) throw error;
    problems.add(error.offset, "nested deeper than 64 levels");
    return undefined;
  }
}

function composeDocuments(text: string, problems: Problems): Generator<Document, void> {
  // Duplicate keys are found with the values: the library compares every key with every other.
  const composer = new Composer({ version: "1.2", strict: true, uniqueKeys: false, resolveKnownTags: false });
  // The library makes an Error with a stack trace of every mistake, and keeps them all: a file of nothing but commas
  // would fill the memory.
  composer["onError"] = (source: ErrorSource, code: ErrorCode) =>
    problems.add(offsetOf(source), wordSyntaxError(code));
  return composer.compose(withoutStrayTokens(tokensWithinDepth(text), problems), true, text.length);
}

type ErrorSource = number | readonly [number, number] | { readonly offset: number };

function offsetOf(source: ErrorSource): number {
  if (typeof source === "number") return source;
  return "offset" in source ? source.offset : source[0];
}

/** The tokens without those that make the composer keep an Error for each: they are problems. */
function* withoutStrayTokens(tokens: Iterable<CST.Token>, problems: Problems): Generator<CST.Token, void> {
  let isInDocument = false;
  for (const token of tokens) {
    if (token.type === "error" || (token.type === "doc-end" && !isInDocument)) {
      problems.add(token.offset, wordSyntaxError("UNEXPECTED_TOKEN"));
      continue;
    }
    if (token.type === "document") isInDocument = true;
    yield token;
  }
}

function checkDocument(document: Document, second: Document | undefined, problems: Problems): void {
  if (second) problems.add(second.range?.[0] ?? 0, "expected one document, got more (---)");
  if (document.directives?.yaml.version !== "1.2") problems.add(0, "expected YAML 1.2");
  if (problems.count() === 0 && document.contents === null) problems.add(0, "the file is empty");
}

/** Our words for the library's codes: its own messages quote the text, which could be a secret. */
function wordSyntaxError(code: ErrorCode): string {
  switch (code) {
    case "BAD_INDENT":
      return "wrong indentation";
    case "TAB_AS_INDENT":
      return "a tab where spaces must indent";
    case "MISSING_CHAR":
      return "something is missing: a closing quote or bracket, a comma, a colon, or a space after one";
    case "BAD_SCALAR_START":
      return "a text that starts with this character needs quotes";
    case "BAD_DQ_ESCAPE":
      return "no such escape; a backslash in double quotes is written twice";
    case "BLOCK_AS_IMPLICIT_KEY":
    case "MULTILINE_IMPLICIT_KEY":
    case "KEY_OVER_1024_CHARS":
      return "a key and its value that do not fit here; a text that holds a colon and a space needs quotes";
    case "BLOCK_IN_FLOW":
      return "no indented block can stand within brackets";
    case "DUPLICATE_KEY":
      return "this key stands here twice";
    case "MULTIPLE_DOCS":
      return "expected one document, got more (---)";
    case "TAG_RESOLVE_FAILED":
    case "MULTIPLE_TAGS":
    case "BAD_COLLECTION_TYPE":
      return "tags are not supported; a text that starts with ! needs quotes";
    case "ALIAS_PROPS":
    case "BAD_ALIAS":
    case "MULTIPLE_ANCHORS":
      return "a misplaced anchor or alias; a text that starts with & or * needs quotes";
    case "BAD_DIRECTIVE":
      return "a directive (%) that is not supported";
    case "RESOURCE_EXHAUSTION":
      return "nested deeper than 64 levels";
    case "BAD_PROP_ORDER":
    case "IMPOSSIBLE":
    case "NON_STRING_KEY":
    case "UNEXPECTED_TOKEN":
      return "not YAML from here on";
    default:
      return code satisfies never;
  }
}
