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
  | {
      readonly ok: true;
      /**
       * Paths of keys that occur twice in one object, cut to the first two keys: a member of the outermost object, or
       * a member of such a member. Each path is listed once for each object.
       */
      readonly repeated: readonly (readonly string[])[];
      /** Whether a string contains a raw control character, which strict JSON forbids. */
      readonly hasRawControls: boolean;
    }
  /** The limit that is exceeded. */
  | { readonly ok: false; readonly limit: keyof JsonLimits };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const FIRST_PRINTABLE = 0x20;

/** An array or object that is still open. */
interface Open {
  readonly isObject: boolean;
  isKeyNext: boolean;
  /** The latest key. */
  key: string;
  members: number;
  keys: Set<string> | undefined;
  /** Keys that occur twice, or whose value contains an object with such a key. */
  repeated: Set<string> | undefined;
}

/**
 * Scans any text in linear time and stops at the first limit that is exceeded. For a text that is not JSON, only `limit`
 * is meaningful.
 */
export function scanJson(text: string, limits: JsonLimits): JsonScan {
  const open: Open[] = [];
  const repeated: (readonly string[])[] = [];
  let hasRawControls = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const container = open.at(-1);
    if (code === QUOTE) {
      const { end, hasControl, hasEscape } = scanString(text, at);
      hasRawControls ||= hasControl;
      if (container?.isKeyNext === true) {
        const key = hasEscape ? unescaped(text.slice(at, end + 1)) : text.slice(at + 1, end);
        const limit = open.length === 1 ? "entries" : "members";
        addKey(open, container, key);
        if (container.members > limits[limit]) return { ok: false, limit };
      }
      at = end;
    } else if (code === COMMA) {
      if (container !== undefined) container.isKeyNext = container.isObject;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push(opened(code === OPEN_OBJECT));
      if (open.length > limits.depth) return { ok: false, limit: "depth" };
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      open.pop();
      const parent = open.length === 1 ? open.map(({ key }) => key) : [];
      for (const key of container?.repeated ?? []) repeated.push([...parent, key]);
    }
  }
  return { ok: true, repeated, hasRawControls };
}

function opened(isObject: boolean): Open {
  return { isObject, isKeyNext: isObject, key: "", members: 0, keys: undefined, repeated: undefined };
}

function addKey(open: readonly Open[], container: Open, key: string): void {
  container.isKeyNext = false;
  container.key = key;
  container.members += 1;
  container.keys ??= new Set();
  if (container.keys.size === container.keys.add(key).size) {
    const [outermost, second] = open;
    const place = second?.isObject === true ? second : outermost;
    if (place !== undefined) (place.repeated ??= new Set()).add(place.key);
  }
}

/** Scans the string that begins at `start`; `end` is its closing quote, or the end of the text if it has none. */
function scanString(text: string, start: number) {
  let hasControl = false;
  let hasEscape = false;
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) break;
    if (code < FIRST_PRINTABLE) hasControl = true;
    if (code === BACKSLASH) {
      hasEscape = true;
      end += 1;
    }
  }
  return { end, hasControl, hasEscape };
}

/** The value of a quoted JSON string, so that two spellings of a key are one key; an invalid string stays unchanged. */
function unescaped(string: string): string {
  try {
    return String(JSON.parse(escapeRawControls(string)));
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
