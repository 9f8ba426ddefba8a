import { z } from "zod";
import { KIND_NAMES } from "../api/kinds.ts";
import { byTiming } from "./timings.ts";
import { MAX_WEBSITES } from "../api/website-list.ts";
import { PROTOCOLS } from "../api/website-test.ts";
import { DEFAULT_STATUSES, type ProxyConfig, type StatusRange, type WebsiteConfig } from "./config.ts";
import { writeSwitch } from "./issue-words.ts";
import { parseFingerprint } from "./known-certificates.ts";
import { Secret } from "../../support/secret.ts";
import { bareHost } from "../../support/address.ts";
import { keysOf } from "../../support/keys.ts";
import { TIME_ZONE_FORM, isTimeZone } from "../../support/time-zone.ts";
import { commentSchema, durationSchema, fileSchema, parsed, scheduleSchema } from "./values.ts";

/** A label. PromQL rejects U+FFFD, which lone surrogates become; YAML's escapes can write both. */
const labelSchema = z
  .string()
  .refine((text) => !/[\p{Cs}\uFFFD]/u.test(text), "expected text without U+FFFD");

const nameSchema = labelSchema.refine(
  (text) => /^\P{Cc}+$/u.test(text),
  "expected a non-empty name without control characters",
);

/** A name that a line of a `known_certificates_file` can start with. */
export const applianceNameSchema = nameSchema.refine(
  (text) => text === text.trim() && !text.startsWith("#"),
  "expected a name without # at the start and without spaces at the start and the end",
);

/** The labels that the exporter sets, those of scrapers and operators, and those of histograms and summaries. */
const RESERVED_LABELS: readonly string[] = (
  "appliance ha_cluster interface vhid vip device netmask peer configured_role state " +
  "website_id website protocol operation reason anomaly host port mode backend role address successor risk effect subject from to cause incident alert kind severity summary advice " +
  "endpoint cluster instance job pod service namespace container node le quantile"
).split(" ");

const labelNameSchema = z
  .string()
  .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, "expected a label name of letters, digits and _, first no digit")
  .refine((name) => !name.startsWith("__") && !RESERVED_LABELS.includes(name), "this label name is reserved");

/** A scheme, host, port and path of plain characters, which cannot contain credentials, so errors may show such a URL. */
const SHOWABLE_URL = /^(?:[a-z]{1,10}:\/\/)?(?:\[[0-9a-f:.]*\]|[\w.-]*)(?::\d*)?(?:\/[\w.~/-]*)?$/i;
const PLAIN_URL = /^https?:\/\/[^\s\\?#@]+$/i;
const BARE_IPV6_URL = /^https?:\/\/[0-9a-f]*:[0-9a-f]*:[0-9a-f.:]*(?:\/|$)/i;

/** An http or https URL of host, port and path only; a trailing slash is removed. */
const baseUrlSchema = z.string().transform((text, context): string => {
  const isPlain = PLAIN_URL.test(text);
  if (isPlain && URL.canParse(text)) {
    const { protocol, host, pathname } = new URL(text);
    return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
  }
  const wrong = BARE_IPV6_URL.test(text)
    ? " with the IPv6 address in brackets, such as https://[2001:db8::1]:4849"
    : !isPlain && SHOWABLE_URL.test(text)
      ? `, got ${JSON.stringify(text)}${lacksScheme(text) ? `: write https://${text}` : ""}`
      : " with a valid host and port, without credentials, query and fragment";
  context.addIssue({ code: "custom", message: `expected an https:// URL${wrong}` });
  return z.NEVER;
});

function lacksScheme(text: string): boolean {
  return /^(?!.*:\/\/)[\w[]/.test(text) && URL.canParse(`https://${text}`);
}

/** A URL of a proxy. Messages do not show it, since it may contain a password. */
const proxyUrlSchema = parsed(
  "a URL of the form http://[user:password@]host:port, with an IPv6 address in brackets",
  (text): ProxyConfig | undefined => {
    const url = /^http:\/\/[^\s\\?#]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
    const [user, password] = [decode(url?.username), decode(url?.password)];
    if (url?.pathname !== "/" || user === undefined || password === undefined) return undefined;
    return {
      host: bareHost(url.hostname),
      port: Number(url.port || 80),
      credentials: user + password === "" ? undefined : new Secret(`${user}:${password}`),
    };
  },
);

function decode(text = ""): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const timingSchema = z
  .strictObject({
    interval: durationSchema("1s", "1d").optional(),
    schedule: scheduleSchema.optional(),
    timeout: durationSchema("1ms", "1d").optional(),
  })
  .refine((timing) => timing.interval === undefined || timing.schedule === undefined, {
    path: ["schedule"],
    error: "expected either interval or schedule, got both",
  });

const innerPollingSchema = z
  .strictObject({
    ...byTiming(() => timingSchema.optional()),
    max_concurrent_website_tests_per_appliance: z.int().min(1).max(1_000).optional(),
  })
  .meta({ id: "polling" });

/** Returns a schema for a text of a pattern; errors do not show the text. */
function matching(what: string, pattern: RegExp) {
  return z.string().regex(pattern, `expected ${what}`);
}

/** RFC 7617 forbids control characters, and a colon. */
export const usernameSchema = matching(
  "a non-empty user name without colons and control characters",
  /^[^:\p{Cc}]+$/u,
);

/** A user name and a password. RFC 7617 forbids control characters. */
export const basicAuthSchema = z
  .strictObject({
    username: usernameSchema,
    password: matching("a non-empty password without control characters", /^\P{Cc}+$/u).optional(),
    password_file: fileSchema.optional(),
  })
  .refine(({ password, password_file: file }) => (password === undefined) !== (file === undefined), {
    error: "expected either password or password_file",
  });

const pinSchema = parsed("a SHA-256 fingerprint of 64 hexadecimal digits", parseFingerprint);

const TLS_VERSIONS = { TLS10: "TLSv1", TLS11: "TLSv1.1", TLS12: "TLSv1.2", TLS13: "TLSv1.3" } as const;

/** A TLS version as Prometheus writes it, converted to Node's name. */
export const tlsVersionSchema = z
  .enum(["TLS10", "TLS11", "TLS12", "TLS13"])
  .transform((version) => TLS_VERSIONS[version]);

const tlsConfigSchema = z
  .strictObject({
    ca_file: fileSchema.optional(),
    cert_file: fileSchema.optional(),
    key_file: fileSchema.optional(),
    server_name: matching("a host name", /^[\w.:-]{1,253}$/).optional(),
    min_version: tlsVersionSchema.optional(),
    insecure_legacy_tls: z.boolean().optional(),
    insecure_skip_verify: z.boolean().optional(),
    certificate_sha256: z.array(pinSchema).optional(),
    known_certificates_file: fileSchema.optional(),
  })
  .refine(({ cert_file: cert, key_file: key }) => (cert === undefined) === (key === undefined), {
    error: "expected both cert_file and key_file, or none of them",
  })
  .refine((tls) => tls.certificate_sha256 === undefined || tls.known_certificates_file === undefined, {
    error: "expected either certificate_sha256 or known_certificates_file, got both",
  });

export const httpClientSchema = z
  .strictObject({ basic_auth: basicAuthSchema, tls_config: tlsConfigSchema, proxy_url: proxyUrlSchema })
  .partial()
  .meta({ id: "http_client" });

const idSchema = parsed("a website's id: a whole number, 0 or greater", parseId, { acceptsNumbers: true });

function parseId(text: string): number | undefined {
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

const statusSchema = parsed(
  "a status code such as 401, or a range such as 200-399",
  (text): StatusRange | undefined => {
    const [, first, last = first] = /^(\d{3})(?:-(\d{3}))?$/.exec(text) ?? [];
    const [from, to] = [Number(first), Number(last)];
    return from >= 100 && from <= to ? { from, to } : undefined;
  },
  {
    acceptsNumbers: true,
    hint: (text) => (/^[1-5]xx$/i.test(text) ? `: write ${text.charAt(0)}00-${text.charAt(0)}99` : ""),
  },
);

const websiteObject = z.strictObject({
  id: idSchema,
  name: nameSchema.optional(),
  protocol: z.enum(keysOf(PROTOCOLS)).optional(),
  expect_status: z.array(statusSchema).min(1).optional(),
});

/** A website, as only its id, or as a map. */
const websiteSchema = z
  .union([idSchema.transform((id): z.output<typeof websiteObject> => ({ id })), websiteObject], {
    error: "expected a website's id, or a map with an id",
  })
  .transform(({ id, name, protocol, expect_status: ranges }): WebsiteConfig => ({
    id,
    name: name ?? String(id),
    protocols: protocol && PROTOCOLS[protocol],
    expectStatus: ranges ?? DEFAULT_STATUSES,
  }));

const discoverySchema = z.union(
  [
    z.boolean(),
    z.strictObject({ exclude: z.array(idSchema), limit: z.int().min(1).max(MAX_WEBSITES) }).partial(),
  ],
  { error: ({ input }) => `expected true, false, or a map with exclude and limit${writeSwitch(input)}` },
);

const kindSchema = z.enum(KIND_NAMES);

/** The settings of both clusters and appliances. */
const innerShape = {
  kind: kindSchema.optional(),
  labels: z.record(labelNameSchema, labelSchema).optional(),
  websites: z.array(websiteSchema).optional(),
  website_discovery: discoverySchema.optional(),
  polling: innerPollingSchema.optional(),
  http_client: httpClientSchema.optional(),
};

const applianceSchema = z
  .strictObject({
    name: applianceNameSchema,
    base_url: baseUrlSchema,
    allow_http: z.boolean().optional(),
    enabled: z.boolean().optional(),
    ...innerShape,
  })
  .refine((appliance) => appliance.allow_http === true || !appliance.base_url.startsWith("http://"), {
    path: ["base_url"],
    error:
      "expected an https:// URL: write https:// in place of http://; only if the appliance has no TLS, set allow_http: true, which sends the password unencrypted",
  })
  .meta({ id: "appliance" });

const clusterSchema = z
  .strictObject({ name: applianceNameSchema, appliances: z.array(applianceSchema), ...innerShape })
  .meta({ id: "cluster" });

/** A file that `config_files` names. */
export const fleetSchema = z
  .strictObject({ clusters: z.array(clusterSchema), appliances: z.array(applianceSchema) })
  .partial();

export const patternsSchema = z.array(
  matching("the path of a file, with * only in its last part", /^(?:[^*]*\/)?[^/]+$/),
);

/** Without these settings, only ports 80 and 443 of public hosts may be targets for blackbox_exporter. */
const targetsSchema = z
  .strictObject({ ports: z.array(z.int().min(1).max(65_535)), private: z.boolean() })
  .partial();

const maintenanceSchema = z
  .strictObject({
    name: commentSchema,
    comment: commentSchema.optional(),
    appliances: z.array(z.string()).optional(),
    clusters: z.array(z.string()).optional(),
    labels: z.record(labelNameSchema, z.string()).optional(),
    schedule: scheduleSchema,
    timezone: z.string().refine(isTimeZone, `expected ${TIME_ZONE_FORM}`).default("UTC"),
    duration: durationSchema("1m", "24h"),
  })
  .refine(
    ({ appliances = [], clusters = [], labels = {} }) =>
      appliances.length + clusters.length + Object.keys(labels).length > 0,
    "expected at least one name in appliances, clusters or labels",
  );

/** The main file. */
export const configSchema = z
  .strictObject({
    polling: innerPollingSchema
      .extend({ max_concurrent_website_tests: z.int().min(1).max(10_000).optional() })
      .optional(),
    http_client: httpClientSchema.optional(),
    kind: kindSchema.optional(),
    website_discovery: discoverySchema.optional(),
    website_targets: targetsSchema.optional(),
    maintenance: z.array(maintenanceSchema).optional(),
    ...fleetSchema.shape,
    config_files: patternsSchema.optional(),
  })
  .refine((config) => config.clusters ?? config.appliances ?? config.config_files, {
    error: "expected at least one of clusters, appliances and config_files",
  });

export type ConfigSettings = z.output<typeof configSchema>;
export type FleetSettings = z.output<typeof fleetSchema>;
export type ClusterSettings = z.output<typeof clusterSchema>;
export type ApplianceSettings = z.output<typeof applianceSchema>;
export type HttpClientSettings = z.output<typeof httpClientSchema>;
