import type { Decoded } from "./decoded.ts";
import { shapeOf } from "./json-shape.ts";

/** What can stand between two quotes and needs a look: an escape, the closing quote, characters below the space. */
const STRING_PARTS = /\\[^]|"|[^ -\uffff]+/g;

/** No answer of the API nests deeper than three. */
const MAX_DEPTH = 64;

/** Texts with raw control characters are tried again up to this length, in UTF-16 units; honest ones are a few thousand. */
const MAX_RETRIED_LENGTH = 1024 * 1024;

/**
 * The value of a JSON text of at most 64 levels. Where strict parsing fails, raw control characters inside strings are
 * escaped, as some appliances send them, and it is parsed once more. Never throws; a problem tells nothing of the text.
 */
export function parseJson(text: string): Decoded<unknown> {
  if (shapeOf(text).depth > MAX_DEPTH) return jsonProblem(`expected at most ${MAX_DEPTH} levels of nesting`);
  const strict = tryParse(text);
  if (strict.ok || text.length > MAX_RETRIED_LENGTH) return strict;
  const escaped = escapeRawControls(text);
  return escaped === text ? strict : tryParse(escaped);
}

function tryParse(text: string): Decoded<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // The parser's own message quotes the text, which may hold anything.
    return jsonProblem(`expected JSON, got ${lookOf(text)}`);
  }
}

function jsonProblem(message: string): Decoded<never> {
  return { ok: false, problem: { reason: "decode", path: "$", message } };
}

function lookOf(text: string): string {
  const start = text.trimStart();
  if (start === "") return "nothing";
  return start.startsWith("<") ? "markup" : "text that is not JSON";
}

function escapeRawControls(text: string): string {
  let isInString = false;
  return text.replace(STRING_PARTS, (part) => {
    if (part === '"') isInString = !isInString;
    return isInString && part < " " ? JSON.stringify(part).slice(1, -1) : part;
  });
}

/** Whether a parsed value is a JSON object; arrays and null are none. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The kind of a parsed value in words, for messages: `an object`, `null`. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Longest member name shown whole in a path, in UTF-16 units. */
const SHOWN_NAME_LENGTH = 64;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The JSON path of a member: `$.carp0`, or `$["we ird"]` where its name is no identifier; a long name is cut. */
export function memberPath(parent: string, name: string): string {
  const shown = name.length > SHOWN_NAME_LENGTH ? `${name.slice(0, SHOWN_NAME_LENGTH)}…` : name;
  return IDENTIFIER.test(shown) ? `${parent}.${shown}` : `${parent}[${JSON.stringify(shown)}]`;
}
