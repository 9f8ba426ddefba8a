import { decodeText } from "./text.ts";

/** A decoded answer, or why it cannot be decoded. Decoders never throw. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: DecodeFailure };

export interface DecodeFailure {
  readonly reason: "decode" | "too_large";
  /** The expected and the actual type; never the value itself. */
  readonly message: string;
}

/** The result of a decoder that rejects the whole answer. */
export function rejected(reason: DecodeFailure["reason"], message: string): Decoded<never> {
  return { ok: false, failure: { reason, message: `$: ${message}` } };
}

/** Of every answer. Repeated keys count too. */
const LIMITS = {
  depth: { most: 8, of: "levels of nesting" },
  /** Of the outermost object. */
  entries: { most: 1024, of: "members" },
  /** Of any other object. */
  members: { most: 64, of: "members in each member" },
} as const;

function beyond({ most, of }: (typeof LIMITS)[keyof typeof LIMITS]): Decoded<never> {
  return rejected("too_large", `expected at most ${most} ${of}`);
}

export interface ParsedJson {
  /** The last value of a repeated key counts. */
  readonly value: unknown;
  /** Each key that its object has already, without the keys around it: together they are never longer than the text. */
  readonly repeated: readonly string[];
}

/**
 * Parses the body of an answer. Beyond the limits it is `too_large`. Accepts raw control characters inside strings, which some
 * appliances send. Never throws; a failure contains nothing of the text.
 */
export function parseJson(body: Uint8Array): Decoded<ParsedJson> {
  const text = decodeText(body);
  if (!MAY_BE_JSON.test(text)) return notJson(text);
  const repeated = repeatedKeys(text);
  if (!repeated.ok) return repeated;
  const parsed = parseStrictly(text) ?? parseStrictly(decodeText(escapeRawControls(body)));
  return parsed === undefined ? notJson(text) : { ok: true, value: { ...parsed, repeated: repeated.value } };
}

/** `undefined` for invalid JSON: the parser's message quotes the text, which may contain a secret. */
function parseStrictly(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Checked first, so that a login page with deeply nested scripts is reported as markup, not as too large. */
const MAY_BE_JSON = /^\s*[[{"\-\dtfn]/;

function notJson(text: string): Decoded<never> {
  const start = text.trimStart();
  // Such as a web page.
  const got = start.startsWith("<") ? "markup" : "text that is not JSON";
  return rejected("decode", `expected JSON, got ${start === "" ? "nothing" : got}`);
}

/** An array or object that is still open. */
interface Open {
  keys: Set<string> | undefined;
  /** Repeated keys included. */
  members: number;
}

/** Scans any text in linear time and stops at the first limit that is exceeded. The keys of a text that is not JSON mean nothing. */
function repeatedKeys(text: string): Decoded<readonly string[]> {
  const open: Open[] = [];
  const repeated: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "{" || char === "[") {
      open.push({ keys: undefined, members: 0 });
      if (open.length > LIMITS.depth.most) return beyond(LIMITS.depth);
    } else if (char === "}" || char === "]") {
      open.pop();
    } else if (char === '"') {
      const [start, container] = [at, open.at(-1)];
      at = endOfString(text, start);
      if (container === undefined || !isKey(text, at)) continue;
      const key = unescaped(text.slice(start, at + 1));
      container.keys ??= new Set();
      if (container.keys.has(key)) repeated.push(key);
      container.keys.add(key);
      container.members += 1;
      const limit = open.length === 1 ? LIMITS.entries : LIMITS.members;
      if (container.members > limit.most) return beyond(limit);
    }
  }
  return { ok: true, value: repeated };
}

/** The closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}

/** Whether a colon follows the string that ends at `end`. */
function isKey(text: string, end: number): boolean {
  COLON.lastIndex = end + 1;
  return COLON.test(text);
}

const COLON = /\s*:/y;

/** The value of a quoted JSON string, so that two spellings of a key are one key. */
function unescaped(string: string): string {
  const parsed = string.includes("\\") ? parseStrictly(string) : undefined;
  return parsed === undefined ? string.slice(1, -1) : String(parsed.value);
}

/** Escapes the raw control characters inside strings. One after a backslash stays: that is an invalid escape. */
function escapeRawControls(body: Uint8Array): Uint8Array {
  const escaped = new Uint8Array(LONGEST_ESCAPE * body.length);
  let length = 0;
  let isInString = false;
  let isAfterBackslash = false;
  for (const byte of body) {
    const escape = isInString && !isAfterBackslash ? ESCAPES[byte] : undefined;
    if (escape === undefined) escaped[length] = byte;
    else escaped.set(escape, length);
    length += escape?.length ?? 1;
    if (byte === QUOTE && !isAfterBackslash) isInString = !isInString;
    isAfterBackslash = isInString && byte === BACKSLASH && !isAfterBackslash;
  }
  return escaped.subarray(0, length);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `\u001f` */
const LONGEST_ESCAPE = 6;
/** By control character. */
const ESCAPES = Array.from({ length: 0x20 }, (_, code) =>
  Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);

/** Whether a parsed value is a JSON object, that is neither an array nor null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The type of a parsed value, for messages: `an object`, `null`. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
