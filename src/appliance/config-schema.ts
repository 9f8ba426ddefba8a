import { isIP } from "node:net";

import { z } from "zod";

import { VRRP_LIST } from "../api/vrrp.ts";
import { PRIORITY, VHID } from "../api/vrrp-member.ts";
import { parseDuration } from "../config/duration.ts";
import { expected } from "../config/validate.ts";
import { isHostName, MAX_PORT, parseListenAddress } from "../web/listen.ts";
import { DEFAULT_SETTINGS } from "./keepalived/mapping.ts";

const MAX_TIMEOUT_MS = 3_600_000;
const DEFAULT_TEST_TIMEOUT_MS = 10_000;
/** Debian's keepalived. */
const DEFAULT_PID_FILE = "/run/vrrp.pid";
const DEFAULT_DUMP_DIR = "/tmp";
/** With glibc; real-time signals are the only ones that can ask for nothing but a dump. */
const SIGJSON = { min: 34, max: 64, default: 36 };
/** Answers come within a second, the shortest time that a poll may be given. */
const DEFAULT_DUMP_TIMEOUT_MS = 500;

/** A value that `parse` gives a form, or an error that shows it and says what was expected. */
function parsed<T>(what: string, parse: (input: unknown) => T | undefined) {
  return z.unknown().transform((input, context): T => {
    const value = parse(input);
    if (value !== undefined) return value;
    context.issues.push({ code: "custom", input, message: expected(what)({ input }) });
    return z.NEVER;
  });
}

function matching(what: string, test: (text: string) => boolean) {
  return parsed(what, (input) => (typeof input === "string" && test(input) ? input : undefined));
}

/** An integer within bounds, written as a number or as a text. */
function integer(min: number, max = Number.MAX_SAFE_INTEGER) {
  const upTo = max === Number.MAX_SAFE_INTEGER ? "upwards" : `to ${max}`;
  return parsed(`a whole number from ${min} ${upTo}`, (input) => {
    const number = typeof input === "string" && /^\d+$/.test(input) ? Number(input) : input;
    return Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max
      ? Number(number)
      : undefined;
  });
}

const port = integer(1, MAX_PORT);
const ipAddress = matching("an IP address", (text) => isIP(text) !== 0);
const netmask = matching("a netmask like 255.255.255.0", (text) => isIP(text) !== 0);
const text = matching("a text that is not empty", (value) => value !== "");

/** In milliseconds. */
const timeout = parsed("a duration like 10s, at most 1h", (input) => {
  const ms = typeof input === "string" ? parseDuration(input) : undefined;
  return ms !== undefined && ms > 0 && ms <= MAX_TIMEOUT_MS ? ms : undefined;
});

const user = z
  .strictObject({
    // Not shown: it may hold the password too.
    username: z.string().regex(/^[^:]+$/, { error: "expected a name without a colon" }),
    password: z.string().min(1).optional(),
    password_file: text.optional(),
  })
  .refine((given) => (given.password === undefined) !== (given.password_file === undefined), {
    error: "expected exactly one of password and password_file",
  });

const website = z.strictObject({
  id: integer(0),
  protocol: z.enum(["http", "https", "both"]),
  /** IPv6 without brackets. */
  host: matching("a host name or an IP address", (value) => isIP(value) !== 0 || isHostName(value)),
  http_port: port.default(80),
  https_port: port.default(443),
  path: matching("a path that starts with / and holds no blanks", (value) =>
    /^\/[!-~]*$/.test(value),
  ).default("/"),
});

const websiteTest = z.strictObject({
  timeout: timeout.default(DEFAULT_TEST_TIMEOUT_MS),
  tls_config: z
    .strictObject({ ca_file: text.optional(), insecure_skip_verify: z.boolean().default(false) })
    .prefault({}),
});

const type = integer(0).transform(String);

/** One VRRP interface in the API's own words; advskew follows from priority. @see management API 2.1 */
const vrrpInterface = z.strictObject({
  if: text,
  vip: ipAddress,
  netmask,
  vhid: integer(VHID.min, VHID.max),
  priority: integer(PRIORITY.min, PRIORITY.max),
  state_current: z.enum(["MASTER", "BACKUP"]),
  type,
  carppeer: ipAddress,
  alias: z.array(ipAddress).default([]),
});

const MAX_INTERFACES = VRRP_LIST.limits.json.entries;

const interfaces = z
  .record(z.string().min(1), vrrpInterface)
  .refine(
    (given) => Object.keys(given).length <= MAX_INTERFACES,
    `expected at most ${MAX_INTERFACES} entries`,
  );

const instance = z.strictObject({
  carppeer: ipAddress.default(DEFAULT_SETTINGS.peer),
  type: type.default(DEFAULT_SETTINGS.type),
});

/** A key that has no meaning beside this source. */
const onlyWith = (source: string) => z.undefined({ error: `only with source: ${source}` }).optional();
const onlyStatic = onlyWith("static");
const onlyKeepalived = onlyWith("keepalived");

const staticSource = z.strictObject({
  source: z.literal("static"),
  interfaces,
  pid_file: onlyKeepalived,
  dump_dir: onlyKeepalived,
  json_signal: onlyKeepalived,
  timeout: onlyKeepalived,
  instances: onlyKeepalived,
});

const keepalivedSource = z.strictObject({
  source: z.literal("keepalived"),
  interfaces: onlyStatic,
  pid_file: text.default(DEFAULT_PID_FILE),
  dump_dir: text.default(DEFAULT_DUMP_DIR),
  json_signal: integer(SIGJSON.min, SIGJSON.max).default(SIGJSON.default),
  timeout: timeout.default(DEFAULT_DUMP_TIMEOUT_MS),
  instances: z.record(z.string().min(1), instance).default({}),
});

/** Where the state of VRRP comes from. */
export const vrrpSchema = z.discriminatedUnion("source", [staticSource, keepalivedSource], {
  error: ({ code }) => (code === "invalid_union" ? "expected one of static, keepalived" : undefined),
});

/** The configuration of the reference appliance. */
export const applianceSchema = z.strictObject({
  /** `127.0.0.1:4849`, `[::1]:4849`, `localhost:4849`, `:4849`; port 0 is any free one. */
  listen: parsed("an address like 127.0.0.1:4849", (input) =>
    typeof input === "string" ? parseListenAddress(input) : undefined,
  ),
  tls: z.strictObject({ cert_file: text, key_file: text }),
  users: uniqueBy(z.array(user).min(1), ({ username }) => username, "username"),
  vrrp: vrrpSchema,
  website_test: websiteTest.prefault({}),
  websites: uniqueBy(z.array(website), ({ id }) => id, "id").default([]),
});

export type ApplianceSettings = z.infer<typeof applianceSchema>;

/** A list whose items differ in `key`. */
function uniqueBy<T>(list: z.ZodType<readonly T[]>, keyOf: (item: T) => unknown, key: string) {
  return list.superRefine((items, context) => {
    const seen = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      const message = `another item above has the same ${key}`;
      if (seen.has(keyOf(item))) context.addIssue({ code: "custom", path: [index, key], message });
      seen.add(keyOf(item));
    }
  });
}
