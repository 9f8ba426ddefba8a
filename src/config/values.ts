import { z } from "zod";
import type { ProxyConfig } from "./config.ts";
import { formatDuration, parseDuration } from "./duration.ts";
import { checkSchedule } from "./schedule.ts";
import { Secret } from "../support/secret.ts";
import { expected, quotesHint, show } from "./validate.ts";

const MAX_NAME_BYTES = 128;
const MAX_LABEL_VALUE_BYTES = 1_024;
/** Removing slashes at the end takes more than linear time. */
const MAX_URL_LENGTH = 2_048;

/** Labels that the exporter sets, those of scrapers and operators, and those of histograms and summaries. */
const RESERVED_LABELS: ReadonlySet<string> = new Set(
  (
    "appliance ha_cluster interface vhid vip device netmask peer configured_role state " +
    "website_id website protocol operation reason anomaly host port mode backend role difference address " +
    "endpoint cluster instance job pod service namespace container node le quantile"
  ).split(" "),
);

/** A string that `parse` converts or refuses with a message, which may show the value. */
export function parsed<T>(
  base: z.ZodString,
  parse: (text: string, refuse: (message: string) => never) => T,
): z.ZodType<T, string> {
  return base.transform((text, context) =>
    parse(text, (message) => {
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }),
  );
}

/** A value that `parse` converts; otherwise an error that says what was expected and shows the value. */
export function converted<T, Input>(
  what: string,
  base: (params: { readonly error: ReturnType<typeof expected> }) => z.ZodType<Input>,
  parse: (value: Input) => T | undefined,
) {
  const error = expected(what);
  return base({ error }).transform((input, context): T => {
    const value = parse(input);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: error({ input }) });
    return z.NEVER;
  });
}

/** A whole number, also in quotes. */
export const intOrString = (params: { readonly error: ReturnType<typeof expected> }) =>
  z.union([z.int(), z.string()], params);

const FILE_ERROR = "expected the path of a file";

/** A path, and not PEM or base64: a key may have been written in place of its path. */
export const fileSchema = z
  .string()
  .min(1, FILE_ERROR)
  .refine((path) => !/-----|\p{Cc}|^[a-z0-9+/=]{100,}$/iu.test(path), FILE_ERROR);

/** A duration in milliseconds, `minMs` to `maxMs`. */
export function durationSchema(minMs: number, maxMs: number): z.ZodType<number, string> {
  const what = "a duration such as 500ms, 15s or 1m30s";
  const range = `expected a duration of ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
  return parsed(z.string({ error: expected(what) }), (text, refuse) => {
    const ms = parseDuration(text);
    if (ms === undefined) return refuse(`expected ${what}, got ${show(text)}`);
    return ms >= minMs && ms <= maxMs ? ms : refuse(`${range}, got ${show(text)}`);
  });
}

export const scheduleSchema = parsed(
  z.string({ error: expected('a node-cron expression, seconds first, such as "*/10 * * * * *"') }),
  (text, refuse) => {
    const message = checkSchedule(text);
    return message === undefined ? text : refuse(message);
  },
);

/** At most `limit` bytes of valid Unicode. */
function textSchema(what: string, limit: number) {
  return z
    .string({ error: (issue) => `${expected(what)(issue)}${quotesHint(issue.input)}` })
    .refine((text) => Buffer.byteLength(text) <= limit, `expected ${what} of at most ${limit} bytes`)
    .refine((text) => !/\p{Surrogate}/u.test(text), `expected ${what} of valid Unicode`);
}

/** A name of 1 to 128 bytes without control characters. */
export const nameSchema = textSchema("a name", MAX_NAME_BYTES)
  .min(1, "expected a non-empty name")
  .refine((text) => !/\p{Cc}/u.test(text), "expected a name without control characters");

/** A name that a line of a `known_certificates_file` can start with. */
export const applianceNameSchema = nameSchema
  .refine((text) => text === text.trim(), "expected a name without spaces at the start and the end")
  .refine((text) => !text.startsWith("#"), "expected a name that does not start with #");

const labelNameSchema = z
  .string()
  .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, "expected a label name of letters, digits and _, first no digit")
  .refine((name) => !name.startsWith("__") && !RESERVED_LABELS.has(name), "this label name is reserved");

export const labelsSchema = z.record(labelNameSchema, textSchema("a string", MAX_LABEL_VALUE_BYTES)).meta({
  description:
    "Labels of every series; an appliance's labels are merged with its cluster's and override them.",
});

/** Scheme, host, port and path of plain characters: cannot contain credentials, so errors may show it. */
const SHOWABLE_URL = /^(?:[a-z]{1,10}:\/\/)?(?:\[[0-9a-f:.]*\]|[\w.-]*)(?::\d*)?(?:\/[\w.~/-]*)?$/i;

/** An http or https URL of host, port and path only; a trailing slash is removed. */
export const baseUrlSchema = parsed(z.string({ error: expected("an https:// URL") }), (text, refuse) => {
  const got = SHOWABLE_URL.test(text) ? `, got ${show(text)}` : "";
  if (text.length > MAX_URL_LENGTH) return refuse(`expected a URL of at most ${MAX_URL_LENGTH} characters`);
  if (!/^https?:\/\/[^/]/i.test(text)) return refuse(`expected an https:// URL${got}`);
  if (text.includes("@")) return refuse("expected a URL without credentials; they belong in basic_auth");
  if (/[?#]/.test(text)) return refuse("expected a URL without query and fragment");
  const url = parseUrl(text);
  return url === undefined
    ? refuse(`expected a URL with host, port and path${got}`)
    : `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
});

/** The message does not show the URL, which may contain a password. */
export const proxyUrlSchema = parsed(z.string(), (text, refuse): ProxyConfig => {
  const url = /^http:\/\/[^?#]*$/i.test(text) ? parseUrl(text) : undefined;
  const [user, password] = [decode(url?.username), decode(url?.password)];
  if (url?.pathname !== "/" || user === undefined || password === undefined) {
    return refuse("expected a URL of the form http://[user:password@]host:port");
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 80),
    credentials: user + password === "" ? undefined : new Secret(`${user}:${password}`),
  };
});

function parseUrl(text: string): URL | undefined {
  // The URL parser drops or replaces these silently.
  if (/[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.port === "0" ? undefined : url;
}

function decode(text = ""): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
