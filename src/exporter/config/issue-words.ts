import { z } from "zod";
import { parseDuration } from "../../support/duration.ts";
import { count } from "../../support/text.ts";

type Issue = z.core.$ZodRawIssue;

const EXPECTED_MAP = "expected a map: lines of a key, a colon, a space and a value";
const EXPECTED_MAPS =
  'expected a list of maps: start each one with "- ", and go on with a key, a colon, a space and a value';

/** The words that people write for true and false. */
const SWITCHES: ReadonlyMap<string, string> = new Map([
  ...["true", "yes", "on", "y", "1"].map((word) => [word, "true"] as const),
  ...["false", "no", "off", "n", "0"].map((word) => [word, "false"] as const),
]);

/**
 * Says what a schema expects and what to write instead. There are words for every kind of issue, so that none of the library's reach a
 * user; a message of the schema itself precedes them. No text of a file is shown, since it may be a secret.
 */
export function describeIssue(issue: Issue): string {
  if (issue.code === "unrecognized_keys") return `unknown key; expected ${choiceOf(keysAt(issue))}`;
  if (issue.input === undefined) return "required key is missing";
  switch (issue.code) {
    case "invalid_type":
      return describeType(issue.expected, issue);
    case "invalid_value": {
      const words = issue.values.map(String);
      return `expected ${choiceOf(words)}${write(sameWord(words, issue.input))}`;
    }
    case "too_small":
      return describeSize("at least", issue, issue.minimum);
    case "too_big":
      return describeSize("at most", issue, issue.maximum);
    // The schemas have messages of their own for these.
    case "invalid_format":
    case "not_multiple_of":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return "expected another form of value";
    default:
      return issue satisfies never;
  }
}

/** Returns the keys of the map that has unknown ones, without those that are refused. */
export function keysAt({ inst }: Issue): readonly string[] {
  return inst instanceof z.ZodObject
    ? Object.entries(inst.shape).flatMap(([key, each]) => (isRefused(each) ? [] : key))
    : [];
}

function isRefused(schema: unknown): boolean {
  return schema instanceof z.ZodOptional ? isRefused(schema.unwrap()) : schema instanceof z.ZodUndefined;
}

function describeType(expected: string, { input, schema, inst }: Issue): string {
  switch (expected) {
    case "object": {
      const isInterval = inst instanceof z.ZodObject && Object.hasOwn(inst.shape, "interval");
      const isDuration = typeof input === "string" && parseDuration(input) !== undefined;
      return `${EXPECTED_MAP}${write(isInterval && isDuration ? `{ interval: ${input} }` : undefined)}`;
    }
    case "record":
      return EXPECTED_MAP;
    case "array":
      return describeList(schema, input);
    case "boolean":
      return `expected true or false${writeSwitch(input)}`;
    case "string":
      return `expected text, got ${kindOf(input)}${typeof input === "object" ? "" : ": put it in quotes"}`;
    case "number":
    case "int":
      return `expected ${numberOf(schema)}${insteadOfNumber(input)}`;
    default:
      return "expected another kind of value";
  }
}

function insteadOfNumber(input: unknown): string {
  if (typeof input === "number") return "";
  return /^\d+$/.test(String(input)) ? ", without quotes" : `, got ${kindOf(input)}`;
}

/** A single value in place of a list is often meant as its one entry. */
function describeList(schema: unknown, input: unknown): string {
  const element = schema instanceof z.ZodArray ? schema.element : undefined;
  if (isMap(element)) return EXPECTED_MAPS;
  if (typeof input === "object" || element === undefined)
    return `expected a list, got ${kindOf(input)}: start each entry with "- ", or write [] for none`;
  const { error } = z.safeParse(element, input, { error: describeIssue });
  if (error !== undefined) return `expected a list; each entry: ${error.issues[0]?.message ?? ""}`;
  return `expected a list: ${typeof input === "number" ? `write [${input}]` : "put it in brackets, [ and ]"}`;
}

/** Whether a schema accepts maps only. */
function isMap(schema: unknown): boolean {
  return schema instanceof z.ZodPipe ? isMap(schema.in) : schema instanceof z.ZodObject;
}

function numberOf(schema: unknown): string {
  const { minValue, maxValue } = schema instanceof z.ZodNumber ? schema : { minValue: null, maxValue: null };
  const [from, to] = [minValue, maxValue].map((bound) => (Number.isSafeInteger(bound) ? bound : null));
  const isOpen = to === null || to === Number.MAX_SAFE_INTEGER;
  if (from === null || from === Number.MIN_SAFE_INTEGER) return "a whole number";
  return isOpen ? `a whole number, ${from} or greater` : `a whole number from ${from} to ${to}`;
}

function describeSize(
  bound: string,
  { schema, origin }: Issue & { readonly origin: string },
  size: number | bigint,
): string {
  if (schema instanceof z.ZodNumber) return `expected ${numberOf(schema)}`;
  const [one, several] = origin === "string" ? ["character"] : ["entry", "entries"];
  return `expected ${bound} ${count(Number(size), one, several)}`;
}

/** Returns `a`, `a or b`, `a, b or c`. */
export function choiceOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** Returns the word that differs only in its case or punctuation, or as versions of TLS in another notation. */
function sameWord(words: readonly string[], input: unknown): string | undefined {
  const given = lettersOf(String(input)).replace(/^tlsv/, "tls");
  return words.find((word) => [given, `tls${given}`].includes(lettersOf(word)));
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Returns true or false as what to write in place of a word such as `yes`, to append to what is expected. */
export function writeSwitch(input: unknown): string {
  return write(SWITCHES.get(String(input).toLowerCase()));
}

/** Returns what to write, to append to what is expected. */
function write(word: string | undefined): string {
  return word === undefined ? "" : `: write ${word}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  const kinds: Readonly<Record<string, string>> = {
    boolean: "true or false",
    number: "a number",
    string: "text",
  };
  return kinds[typeof value] ?? "a map";
}
