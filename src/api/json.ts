import type { Decoded } from "./decoded.ts";
import { endOfString, shapeOf } from "./json-shape.ts";

/** No answer of the API nests deeper than three. */
const MAX_DEPTH = 64;

/** Strings that a text with raw control characters may hold to be tried again; an honest one holds a hundred thousand at most. */
const MAX_RETRIED_STRINGS = 200_000;

/**
 * The value of a JSON text of at most 64 levels. Where strict parsing fails, raw control characters inside strings are
 * escaped, as some appliances send them, and it is parsed once more. Never throws; a problem tells nothing of the text.
 */
export function parseJson(text: string): Decoded<unknown> {
  if (shapeOf(text).depth > MAX_DEPTH) return jsonProblem(`expected at most ${MAX_DEPTH} levels of nesting`);
  const strict = tryParse(text);
  if (strict.ok) return strict;
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

/** The text as it was where nothing needs escaping, or too much. */
function escapeRawControls(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', done)) {
    if (parts.length > 2 * MAX_RETRIED_STRINGS) return text;
    const end = endOfString(text, start) + 1;
    parts.push(text.slice(done, start), escapeControls(text.slice(start, end)));
    done = end;
  }
  return parts.join("") + text.slice(done);
}

/** Kind by kind: a call for each character would cost a second where there are millions. */
function escapeControls(string: string): string {
  if (!RAW_CONTROL.test(string) || ESCAPED_CONTROL.test(string)) return string;
  return CONTROLS.reduce((escaped, [raw, escape]) => escaped.replaceAll(raw, escape), string);
}

const CONTROLS = Array.from({ length: 32 }, (_, code) => {
  const raw = String.fromCharCode(code);
  return [raw, JSON.stringify(raw).slice(1, -1)] as const;
});
const ANY_CONTROL = `[${CONTROLS.map(([, escape]) => escape).join("")}]`;
const RAW_CONTROL = new RegExp(ANY_CONTROL);
/** A backslash and a control character are no escape; that is more than a raw control character. */
const ESCAPED_CONTROL = new RegExp(String.raw`(?<!\\)(?:\\\\)*\\${ANY_CONTROL}`);

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
