/** Limits of a JSON text. */
export interface JsonLimits {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Members of the outermost object, repeated keys included. */
  readonly entries: number;
  /** Members of any other object, repeated keys included. */
  readonly members: number;
}

/** The result of one pass over a JSON text. */
export type JsonScan =
  /** `repeated`: for each key that its object has already, the keys that lead to it, and that key. */
  | { readonly ok: true; readonly repeated: readonly (readonly string[])[] }
  /** The limit that is exceeded. */
  | { readonly ok: false; readonly limit: keyof JsonLimits };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const SPACE = 0x20;
const FIRST_PRINTABLE = 0x20;

/** An array or object that is still open. */
interface Open {
  /** The latest key of an object. */
  key: string | undefined;
  keys: Set<string> | undefined;
  /** Repeated keys included. */
  members: number;
}

/**
 * Scans any text in linear time and stops at the first limit that is exceeded. For a text that is not JSON, only `limit`
 * is meaningful.
 */
export function scanJson(text: string, limits: JsonLimits): JsonScan {
  const open: Open[] = [];
  const repeated: (readonly string[])[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push({ key: undefined, keys: undefined, members: 0 });
      if (open.length > limits.depth) return { ok: false, limit: "depth" };
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      open.pop();
    } else if (code === QUOTE) {
      const end = endOfString(text, at);
      const container = open.at(-1);
      if (container !== undefined && isKey(text, end)) {
        if (isRepeated(container, unescaped(text.slice(at, end + 1)))) {
          repeated.push(open.flatMap(({ key }) => key ?? []));
        }
        const limit = open.length === 1 ? "entries" : "members";
        if (container.members > limits[limit]) return { ok: false, limit };
      }
      at = end;
    }
  }
  return { ok: true, repeated };
}

/** Adds a key; whether the object has it already. */
function isRepeated(container: Open, key: string): boolean {
  container.key = key;
  container.members += 1;
  const keys = (container.keys ??= new Set());
  return keys.size === keys.add(key).size;
}

/** The closing quote of the string that begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) break;
    if (code === BACKSLASH) end += 1;
  }
  return end;
}

/** Whether a colon follows the string that ends at `end`. */
function isKey(text: string, end: number): boolean {
  let next = end + 1;
  while (text.charCodeAt(next) <= SPACE) next += 1;
  return text.charCodeAt(next) === COLON;
}

/** The value of a quoted JSON string, so that two spellings of a key are one key. */
function unescaped(string: string): string {
  if (!string.includes("\\")) return string.slice(1, -1);
  try {
    return String(JSON.parse(string));
  } catch {
    return string;
  }
}

/**
 * Escapes the raw control characters inside the strings of a JSON text, in one pass. A control character after a
 * backslash stays: that is an invalid escape.
 */
export function escapeRawControls(text: string): string {
  // An array of UTF-16 units: joining strings costs ten times as much for a hundred thousand line breaks.
  const units = new Uint16Array(text.length * LONGEST_ESCAPE);
  let length = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    if (isInString && code < FIRST_PRINTABLE) {
      for (const unit of ESCAPES[code] ?? []) units[length++] = unit;
      continue;
    }
    units[length++] = code;
    if (isInString && code === BACKSLASH && at + 1 < text.length) units[length++] = text.charCodeAt(++at);
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString("utf16le");
}

/** `\u001f` */
const LONGEST_ESCAPE = 6;
const ESCAPES = Array.from({ length: FIRST_PRINTABLE }, (_, code) =>
  Array.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1), (char) => char.charCodeAt(0)),
);
