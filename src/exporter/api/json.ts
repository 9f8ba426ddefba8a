import type { Outcome } from "./failure.ts";
import { decodeText } from "./text.ts";

/** Returns a failure of the whole answer. `message` has the expected and the actual type, never the value itself. */
export function rejected(reason: "decode" | "too_large", message: string): Outcome<never> {
  return { ok: false, failure: { reason, message: `$: ${message}` } };
}

/** An answer has four levels. For as many levels as the limit of bytes allows, a parser would need a tenth of a second. */
export const MAX_DEPTH = 8;

export interface ParsedJson {
  /** The last value of a repeated key counts. */
  readonly value: unknown;
  /** Each key that its object has already, without the keys around it. All together are never longer than the text. */
  readonly repeated: readonly string[];
}

/**
 * Parses the body of an answer. More than 8 levels of nesting are `too_large`. Accepts raw control characters inside strings,
 * which some appliances send. Never throws; a failure contains nothing of the text. @see management API 7
 */
export function parseJson(body: Uint8Array): Outcome<ParsedJson> {
  const text = decodeText(body);
  if (!MAY_BE_JSON.test(text)) return notJson(text);
  const repeated = repeatedKeys(text);
  if (repeated === undefined) return rejected("too_large", `expected at most ${MAX_DEPTH} levels of nesting`);
  const parsed = parseStrictly(text) ?? parseStrictly(escapeRawControls(text));
  return parsed === undefined ? notJson(text) : { ok: true, value: { value: parsed.value, repeated } };
}

/** Returns `undefined` for invalid JSON, because the parser's message quotes the text, which may contain a secret. */
function parseStrictly(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** This is checked first, so that a login page with deeply nested scripts is reported as markup, not as too large. */
const MAY_BE_JSON = /^\s*[[{"\-\dtfn]/;

function notJson(text: string): Outcome<never> {
  const start = text.trimStart();
  const got = start.startsWith("<") ? "markup" : "text that is not JSON";
  return rejected("decode", `expected JSON, got ${start === "" ? "nothing" : got}`);
}

/** A string. In a text that is not JSON, the last string may lack its end. */
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*"?/g;
/** A string, with the colon that makes it a key, or a bracket. If strings end, the last character of a match shows which it is. */
const TOKEN = new RegExp(`${STRING.source}(?:\\s*:)?|[[\\]{}]`, "g");

/**
 * Scans any text in linear time and returns the repeated keys; `undefined` if it is nested too deeply. The keys of a text that is
 * not JSON mean nothing.
 */
function repeatedKeys(text: string): readonly string[] | undefined {
  /** The keys of each array and object around the place that is scanned. */
  const open: Set<string>[] = [];
  const repeated: string[] = [];
  // Unlike `matchAll`, `test` makes no list of each match. These lists were a tenth of all memory that a poll takes.
  TOKEN.lastIndex = 0;
  for (let at = 0; TOKEN.test(text); at = TOKEN.lastIndex) {
    // A string that ends the text is no key. Without its own end it may look like a bracket.
    if (TOKEN.lastIndex === text.length && text.includes('"', at)) break;
    const last = text[TOKEN.lastIndex - 1];
    if (last === "{" || last === "[") open.push(new Set());
    if (open.length > MAX_DEPTH) return undefined;
    if (last === "}" || last === "]") open.pop();
    const keys = open.at(-1);
    if (last !== ":" || keys === undefined) continue;
    const key = unescaped(text.slice(text.indexOf('"', at), TOKEN.lastIndex - 1).trimEnd());
    if (keys.has(key)) repeated.push(key);
    keys.add(key);
  }
  return repeated;
}

/** Returns the value of a quoted JSON string, so that two spellings of a key are one key. */
function unescaped(string: string): string {
  const parsed = string.includes("\\") ? parseStrictly(string) : undefined;
  return parsed === undefined ? string.slice(1, -1) : String(parsed.value);
}

/**
 * Escapes the raw control characters inside strings. A control character after a backslash stays, since that is an invalid escape. Linear
 * time.
 */
function escapeRawControls(text: string): string {
  return text.replaceAll(STRING, (string) =>
    string.replaceAll(/\\[^]|\p{Cc}+/gu, (found) =>
      found.startsWith("\\") ? found : JSON.stringify(found).slice(1, -1),
    ),
  );
}

/** Whether a parsed value is an object: neither an array nor null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the type of a parsed value, for messages: `an object`, `null`. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The lowest and the highest value, both included. */
export type NumberRange = Readonly<Record<"min" | "max", number>>;

export const INTEGER_TEXT = /^\s*[+-]?\d+\s*$/;

/** Returns the integer in a JSON number (204, 204.0) or a string (" 204 "); `undefined` for anything else, and out of bounds. */
export function readInteger(value: unknown, { min, max }: NumberRange): number | undefined {
  const number = typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) return undefined;
  // The addition turns -0 into 0.
  return number >= min && number <= max ? number + 0 : undefined;
}

/** Returns a string unchanged, a number as its decimal text, anything else as "". */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

/** Returns an array, also if it is written as an empty object; `undefined` for anything else. */
export function readList(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) && Object.keys(value).length === 0 ? [] : undefined;
}

/** Reads one of the codes of an enumeration, a number or a string, as its meaning; `undefined` for anything else. */
export function oneOf<T>(meanings: Readonly<Record<string, T>>): (value: unknown) => T | undefined {
  return (value) => {
    const text = readText(value).trim();
    return Object.hasOwn(meanings, text) ? meanings[text] : undefined;
  };
}

/** Whether a value is missing, null or an empty string. */
export function isUnknown(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
