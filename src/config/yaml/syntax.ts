import { Composer, type Document, type ErrorCode } from "yaml";
import { TooDeepError, tokensWithinDepth } from "./depth.ts";
import type { YamlProblem } from "./data.ts";

export type SyntaxResult =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] };

/** The one document of a YAML 1.2 text, or every mistake in its syntax in our words; never throws, never echoes the text. */
export function parseYamlText(text: string): SyntaxResult {
  try {
    return checkDocuments(composeDocuments(text));
  } catch (error) {
    if (!(error instanceof TooDeepError)) throw error;
    return { ok: false, problems: [{ offset: error.offset, message: "nested deeper than 64 levels" }] };
  }
}

function composeDocuments(text: string): readonly Document[] {
  // Duplicate keys are found with the values: the library compares every key with every other.
  const composer = new Composer({ version: "1.2", strict: true, uniqueKeys: false, resolveKnownTags: false });
  return [...composer.compose(tokensWithinDepth(text), true, text.length)];
}

function checkDocuments([document, second]: readonly Document[]): SyntaxResult {
  if (!document) return { ok: false, problems: [{ offset: 0, message: "the file is empty" }] };
  const problems = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    offset: pos[0],
    message: wordSyntaxError(code),
  }));
  if (second)
    problems.push({ offset: second.range?.[0] ?? 0, message: "expected one document, got more (---)" });
  if (document.directives?.yaml.version !== "1.2") problems.push({ offset: 0, message: "expected YAML 1.2" });
  if (problems.length === 0 && document.contents === null) {
    problems.push({ offset: 0, message: "the file is empty" });
  }
  return problems.length === 0 ? { ok: true, document } : { ok: false, problems };
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
