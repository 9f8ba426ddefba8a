import { isIP } from "node:net";
import { canonicalAddress, NETMASKS } from "../../support/address.ts";
import { INTEGER_TEXT, isJsonObject, MAX_DEPTH, parseJson, readInteger, readText } from "./json.ts";
import { decodeText } from "./text.ts";

/** Numbers the texts of each kind by their first occurrence, from 1, so that equal texts have equal numbers. */
export type Numbering = (kind: string, text: string) => number;

export function createNumbering(): Numbering {
  const kinds = new Map<string, Map<string, number>>();
  return (kind, text) => {
    const numbers = kinds.get(kind) ?? new Map<string, number>();
    kinds.set(kind, numbers);
    const number = numbers.get(text) ?? numbers.size + 1;
    numbers.set(text, number);
    return number;
  };
}

/**
 * Anonymizes a part of an answer, so that it decodes as before. Keeps null, booleans, known keys, numbers of a range and words of a closed
 * set; any other text or key becomes a name with a number, any other number 0 or a word. Anonymizing the result again changes nothing.
 */
export type Anonymize = (value: unknown, number: Numbering) => unknown;

/** Keeps these keys, also of objects inside of other values, and anonymizes the value of each by its key. */
export function objectOf(known: Readonly<Record<string, Anonymize>>): Anonymize {
  const anonymize: Anonymize = (value, number) => {
    if (Array.isArray(value)) return value.map((each) => anonymize(each, number));
    if (isJsonObject(value)) {
      const entries = Object.entries(value).map(([key, each]) => {
        const own = Object.hasOwn(known, key) ? known[key] : undefined;
        return own === undefined
          ? [numbered("key", key, number), anonymize(each, number)]
          : [key, own(each, number)];
      });
      return Object.fromEntries(entries);
    }
    if (typeof value === "number") return 0;
    return typeof value === "string" && value !== "" ? numbered("text", value, number) : value;
  };
  return anonymize;
}

function numbered(kind: string, text: string, number: Numbering): string {
  return `${kind}-${number(kind, text)}`;
}

/** Keeps nothing but the types of a value and its parts. */
export const structure = objectOf({});

/** Anonymizes an object whose keys are names. */
export function mapOf(kind: string, each: Anonymize): Anonymize {
  return (value, number) =>
    isJsonObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, member]) => [numbered(kind, key, number), each(member, number)]),
        )
      : each(value, number);
}

export function listOf(item: Anonymize): Anonymize {
  return (value, number) =>
    Array.isArray(value) ? value.map((each) => item(each, number)) : structure(value, number);
}

/** Anonymizes an array in which the position defines the meaning of a value. */
export function rowOf(...items: readonly Anonymize[]): Anonymize {
  return (value, number) =>
    Array.isArray(value)
      ? value.map((each, index) => (items[index] ?? structure)(each, number))
      : structure(value, number);
}

const OUT_OF_RANGE = "out of range";

/** Keeps what `read` accepts: numbers of a range and words of a closed set, also with white space around them. */
export function kept(read: (value: unknown) => unknown): Anonymize {
  return (value, number) => {
    const isNumber = typeof value === "number" || (typeof value === "string" && INTEGER_TEXT.test(value));
    if (read(value) === undefined)
      return isNumber || value === OUT_OF_RANGE ? OUT_OF_RANGE : structure(value, number);
    if (typeof value !== "string") return value;
    return isNumber ? String(Number(value)) : value.trim();
  };
}

export function nameOf(kind: string): Anonymize {
  return (value, number) =>
    typeof value === "string" && value !== "" ? numbered(kind, value, number) : structure(value, number);
}

const PREFIX = { min: 0, max: 128 };

export const anonymizeNetmask = kept((value) =>
  NETMASKS.has(readText(value)) ? value : readInteger(value, PREFIX),
);

/** The addresses that say nothing about a network: unspecified, loopback, and the multicast groups of VRRP. */
const WELL_KNOWN = new Set(["*", "0.0.0.0", "::", "127.0.0.1", "::1", "224.0.0.18", "ff02::12"]);
/** @see RFC 5737 */
const IPV4_NETWORKS = ["192.0.2", "198.51.100", "203.0.113"];
const HOSTS = 254;

/** Replaces an address, whose prefix length stays, or a host name. IPv4 addresses beyond the 762 for documentation become host names. */
export const anonymizeAddress: Anonymize = (value, number) => {
  if (typeof value !== "string" || value === "") return structure(value, number);
  const [, bare = value, prefix = ""] = /^([^/]*)(\/(?:\d\d?|1[01]\d|12[0-8]))$/.exec(value) ?? [];
  const canonical = canonicalAddress(bare);
  if (WELL_KNOWN.has(canonical)) return `${canonical}${prefix}`;
  const version = isIP(canonical);
  if (version === 6) return `${documentationIpv6(number("ipv6", canonical))}${prefix}`;
  const index = version === 4 ? number("ipv4", canonical) - 1 : Number.POSITIVE_INFINITY;
  const network = IPV4_NETWORKS[Math.floor(index / HOSTS)];
  return network === undefined
    ? numbered("host", value, number)
    : `${network}.${(index % HOSTS) + 1}${prefix}`;
};

/** @see RFC 3849 */
function documentationIpv6(number: number): string {
  const [high, low] = [number >>> 16, number & 0xffff].map((part) => part.toString(16));
  return canonicalAddress(`2001:db8::${high}:${low}`);
}

/** Longer bodies are not indented, so that they stay below the limit of their operation. */
const MAX_INDENTED = 16 * 1024;

/** Anonymizes the body of an answer with status 200. A body that is not JSON becomes a word for its kind. */
export function anonymizeBody(body: Uint8Array, anonymize: Anonymize, number: Numbering): string {
  const parsed = parseJson(body);
  if (!parsed.ok) {
    if (parsed.failure.reason === "too_large") return "[".repeat(MAX_DEPTH + 1);
    const start = decodeText(body).trimStart();
    if (start === "") return "";
    return start.startsWith("<") ? "<html>" : "text";
  }
  const { repeated } = parsed.value;
  const value = anonymize(parsed.value.value, number);
  const short = JSON.stringify(value);
  const text = short.length > MAX_INDENTED ? short : JSON.stringify(value, null, 2);
  if (repeated.length === 0) return text;
  const keys = new Set(Array.from(text.matchAll(KEY), ([, key]) => key));
  const [anyKey] = keys;
  /** The repetitions of each key. A key in a value that does not count is taken for another. */
  const counts = new Map<string | undefined, number>();
  for (const key of repeated) {
    const names = ["interface", "key"].map((kind) => numbered(kind, key, number));
    const written = [...names, key].find((each) => keys.has(each)) ?? anyKey;
    counts.set(written, (counts.get(written) ?? 0) + 1);
  }
  // Earlier values of a repeated key do not count.
  return text.replace(KEY, (found, key: string) => {
    const count = counts.get(key) ?? 0;
    counts.delete(key);
    return `${found}null,`.repeat(count) + found;
  });
}

const KEY = /"([^"]+)": ?/g;
