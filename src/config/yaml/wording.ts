import type { z } from "zod";

/** Longer texts are cut where an error shows them. */
const MAX_SHOWN = 80;

/** For a key that every file of its kind must hold. */
const MISSING = "required key is missing";

/** What kind of thing was found, without a bit of it. */
function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  if (typeof value === "number") return "a number";
  return typeof value === "boolean" ? "true or false" : "a map";
}

/** The value itself, as JSON and cut; only for keys that never hold a secret. */
export function show(value: unknown): string {
  if (value === null || typeof value === "object") return kindOf(value);
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return cut(text);
}

/** The start of a long text. */
export function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

/** A marker of PEM, several lines, or a long run of base64. */
const KEY_MATERIAL = /-----|[\r\n]|^[A-Za-z0-9+][A-Za-z0-9+/=]{47,}$/;

/** The path of a file, but where what was `given` for it may be the key itself that belongs into the file. */
export function showPath(given: string, path: string): string {
  return KEY_MATERIAL.test(given) ? "this file" : show(path);
}

/** Words a type error with the value that was found; only for keys that never hold a secret. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? MISSING : `expected ${what}, got ${show(input)}`);
}

/** The same for a text, which YAML takes for something else when it is written without quotes. */
export function expectedText(what: string): (issue: { readonly input?: unknown }) => string {
  return (issue) => `${expected(what)(issue)}${quotesHint(issue.input)}`;
}

/** Words whatever a schema did not word itself; it shows kinds of values and never a value. */
export function wordIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== "unrecognized_keys") return MISSING;
  switch (issue.code) {
    case "invalid_type":
      return `expected ${wordType(issue.expected)}, got ${kindOf(issue.input)}${issue.expected === "string" ? quotesHint(issue.input) : ""}`;
    case "invalid_value":
      return `expected one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `expected at least ${issue.minimum}${wordUnit(issue.origin, issue.minimum)}`;
    case "too_big":
      return `expected at most ${issue.maximum}${wordUnit(issue.origin, issue.maximum)}`;
    case "invalid_format":
    case "not_multiple_of":
    case "unrecognized_keys":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
    case "custom":
    default:
      return "not what is expected here";
  }
}

function wordType(type: string): string {
  switch (type) {
    case "string":
      return "a text";
    case "int":
      return "a whole number";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "array":
      return "a list";
    default:
      return "a map";
  }
}

function quotesHint(input: unknown): string {
  return typeof input === "number" || typeof input === "boolean" ? "; put it in quotes" : "";
}

function wordUnit(origin: string, count: number | bigint): string {
  const units: Readonly<Record<string, string>> = { string: " character", array: " item" };
  const unit = units[origin];
  return unit === undefined ? "" : `${unit}${count === 1 ? "" : "s"}`;
}
