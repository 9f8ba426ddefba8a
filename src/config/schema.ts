import { z } from "zod";
import type { WebsiteConfig } from "./config.ts";
import { parseStatusRange } from "./status-set.ts";
import { expected, show } from "./validate.ts";
import {
  baseUrlSchema,
  durationSchema,
  labelsSchema,
  nameSchema,
  parsed,
  proxyUrlSchema,
  scheduleSchema,
} from "./values.ts";

const DAY_MS = 86_400_000;
const MAX_PINS = 100;
/** Per list. */
const MAX_WEBSITES = 10_000;
const MAX_STATUS_RANGES = 100;
/** Every check of the files lists the folder of each pattern. */
const MAX_PATTERNS = 1_000;
/** The longest path in Linux. */
const MAX_PATTERN_LENGTH = 4_096;

const timingSchema = z
  .strictObject({
    interval: durationSchema(1_000, DAY_MS)
      .meta({ description: "Time from one poll to the next: 1s to 1d. Displaces an outer schedule." })
      .optional(),
    schedule: scheduleSchema
      .meta({
        description: "A node-cron expression of six fields, seconds first. Displaces an outer interval.",
      })
      .optional(),
    timeout: durationSchema(1, DAY_MS)
      .meta({ description: "How long a poll may take; at most the interval." })
      .optional(),
  })
  .refine((timing) => timing.interval === undefined || timing.schedule === undefined, {
    path: ["schedule"],
    error: "expected either interval or schedule, got both",
  });

const innerPollingShape = {
  vrrp: timingSchema
    .meta({ description: "The list of VRRP interfaces; default: every 5s, timeout 4s." })
    .optional(),
  websites: timingSchema
    .meta({ description: "The website tests; default: every 30s, timeout 20s." })
    .optional(),
  max_concurrent_website_tests_per_appliance: z
    .int()
    .min(1)
    .max(1_000)
    .meta({ description: "Simultaneous website tests of one appliance; default: 4." })
    .optional(),
};

const innerPollingSchema = z.strictObject(innerPollingShape).meta({
  id: "polling",
  description: "When appliances are polled; inner blocks override outer ones key by key.",
});

const pollingSchema = z
  .strictObject({
    ...innerPollingShape,
    max_concurrent_website_tests: z
      .int()
      .min(1)
      .max(10_000)
      .meta({ description: "Simultaneous website tests of the fleet; default: 64." })
      .optional(),
  })
  .meta({ description: "When appliances are polled: the defaults for all of them." });

const fileSchema = z.string().min(1, "expected the path of a file");

/** Messages show no values. RFC 7617 forbids control characters, and a colon in the user name. */
const basicAuthSchema = z
  .strictObject({
    username: z
      .string()
      .regex(/^[^:\p{Cc}]+$/u, "expected a non-empty user name without colons and control characters"),
    password: z
      .string()
      .regex(/^\P{Cc}+$/u, "expected a non-empty password without control characters")
      .meta({ description: "The password itself; password_file is safer." })
      .optional(),
    password_file: fileSchema
      .meta({ description: "A file that contains the password; it is read again when it changes." })
      .optional(),
  })
  .refine((auth) => auth.password === undefined || auth.password_file === undefined, {
    path: ["password_file"],
    error: "expected either password or password_file, got both",
  })
  .refine((auth) => auth.password !== undefined || auth.password_file !== undefined, {
    error: "expected either password or password_file, got neither",
  })
  .meta({
    description:
      "Credentials for HTTP Basic authentication; an inner block replaces an outer one as a whole.",
  });

const PIN_ERROR = "expected a SHA-256 fingerprint of 64 hexadecimal digits";

const pinSchema = parsed(z.string({ error: PIN_ERROR }), (text, refuse) => {
  const digits = text.replaceAll(":", "").toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : refuse(PIN_ERROR);
});

const TLS_VERSIONS = { TLS10: "TLSv1", TLS11: "TLSv1.1", TLS12: "TLSv1.2", TLS13: "TLSv1.3" } as const;

/** A TLS version as Prometheus writes it, converted to Node's name. */
export const tlsVersionSchema = z
  .enum(["TLS10", "TLS11", "TLS12", "TLS13"], { error: expected("TLS10, TLS11, TLS12 or TLS13") })
  .transform((version) => TLS_VERSIONS[version]);

const tlsConfigSchema = z
  .strictObject({
    ca_file: fileSchema
      .meta({
        description: "Certificates of the trusted authorities, PEM; default: those of Node.js.",
      })
      .optional(),
    cert_file: fileSchema.meta({ description: "The client certificate, PEM; needs key_file." }).optional(),
    key_file: fileSchema
      .meta({ description: "The key of the client certificate, PEM; needs cert_file." })
      .optional(),
    server_name: z
      .string({ error: expected("a host name") })
      .regex(/^[\w.:-]{1,253}$/, "expected a host name")
      .meta({ description: "The expected name in the certificate; default: the host of base_url." })
      .optional(),
    min_version: tlsVersionSchema.meta({ description: "The lowest TLS version to accept." }).optional(),
    insecure_skip_verify: z
      .boolean()
      .meta({ description: "Accept any certificate; default: false." })
      .optional(),
    certificate_sha256: z
      .array(pinSchema)
      .max(MAX_PINS)
      .meta({ description: "SHA-256 fingerprints: the presented certificate must be one of these." })
      .optional(),
  })
  .meta({ description: "TLS settings for the appliance; an inner block overrides an outer one key by key." });

export const httpClientSchema = z
  .strictObject({
    basic_auth: basicAuthSchema.optional(),
    tls_config: tlsConfigSchema.optional(),
    proxy_url: proxyUrlSchema
      .meta({
        description: "The proxy to use: http://[user:password@]host:port.",
      })
      .optional(),
  })
  .meta({ id: "http_client", description: "HTTP client settings; inner blocks override outer ones." });

const idError = expected("a website's id: a whole number, 0 or greater");

const idSchema = z
  .union([z.int(), z.string()], { error: idError })
  .transform((value, context) => {
    const id = /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
    if (Number.isSafeInteger(id)) return id;
    context.addIssue({ code: "custom", message: idError({ input: value }) });
    return z.NEVER;
  })
  .meta({ description: "The website's id on the appliance: a whole number, 0 or greater." });

const statusError = expected("a status code such as 401, or a range such as 200-399");

const statusSchema = z.union([z.int(), z.string()], { error: statusError }).transform((value, context) => {
  const range = parseStatusRange(String(value));
  if (range) return range;
  context.addIssue({ code: "custom", message: statusError({ input: value }) });
  return z.NEVER;
});

const PROTOCOLS = { http: ["http"], https: ["https"], both: ["http", "https"] } as const;

const websiteObject = z.strictObject({
  id: idSchema,
  name: nameSchema.meta({ description: "The `website` label; default: the id." }).optional(),
  protocol: z
    .enum(["http", "https", "both"], { error: expected("http, https or both") })
    .meta({
      description: "The protocols to export; default: those in the response.",
    })
    .optional(),
  expect_status: z
    .array(statusSchema)
    .min(1)
    .max(MAX_STATUS_RANGES)
    .meta({ description: "Status codes and ranges that count as up; default: [200-399]." })
    .optional(),
});

/** A website: its id alone, or a map. */
const websiteSchema = z
  .union([idSchema, websiteObject], { error: expected("a website's id, or a map with an id") })
  .transform((website) => toWebsite(typeof website === "number" ? { id: website } : website));

function toWebsite({
  id,
  name,
  protocol,
  expect_status: ranges,
}: z.output<typeof websiteObject>): WebsiteConfig {
  return {
    id,
    name: name ?? String(id),
    protocols: protocol && PROTOCOLS[protocol],
    expectStatus: { ranges: ranges ?? [{ from: 200, to: 399 }] },
  };
}

/** Settings of both clusters and appliances. */
const innerShape = {
  labels: labelsSchema.optional(),
  websites: z
    .array(websiteSchema)
    .max(MAX_WEBSITES)
    .meta({ description: "Websites to test; an appliance's are added to its cluster's." })
    .optional(),
  polling: innerPollingSchema.optional(),
  http_client: httpClientSchema.optional(),
};

const applianceSchema = z
  .strictObject({
    name: nameSchema.meta({ description: "Unique over all files; the `appliance` label." }),
    base_url: baseUrlSchema.meta({
      description:
        "https://host:port and the path before /api/v1, if any; without credentials, query and fragment.",
    }),
    allow_http: z
      .boolean()
      .meta({ description: "Allow an http:// base_url, which sends credentials unencrypted." })
      .optional(),
    enabled: z
      .boolean({ error: expected("true or false") })
      .meta({ description: "false keeps the entry and does not poll it; default: true." })
      .optional(),
    ...innerShape,
  })
  .refine((appliance) => appliance.allow_http === true || !appliance.base_url.startsWith("http://"), {
    path: ["base_url"],
    error: "expected an https:// URL, got http://; set allow_http: true to allow that",
  })
  .meta({ id: "appliance", description: "A device that serves the management API." });

const clusterSchema = z
  .strictObject({
    name: nameSchema.meta({ description: "Unique over all files; the `ha_cluster` label." }),
    appliances: z.array(applianceSchema).meta({ description: "The members of the cluster." }),
    ...innerShape,
  })
  .meta({ id: "cluster", description: "Appliances that back each other up." });

const fleetShape = {
  clusters: z.array(clusterSchema).meta({ description: "Appliances that back each other up." }).optional(),
  appliances: z
    .array(applianceSchema)
    .meta({ description: "Appliances without a cluster: each is a cluster of its own name." })
    .optional(),
};

/** A file that `config_files` names. */
export const fleetSchema = z.strictObject(fleetShape);

const patternSchema = parsed(
  z.string({ error: expected("a path, with * only in its last part") }),
  (pattern, refuse) =>
    pattern.length <= MAX_PATTERN_LENGTH && /^(?:[^*]*\/)?[^/]+$/.test(pattern)
      ? pattern
      : refuse(`expected the path of a file, with * only in its last part, got ${show(pattern)}`),
);

export const patternsSchema = z
  .array(patternSchema)
  .max(MAX_PATTERNS)
  .meta({ description: "More files with clusters and appliances, relative to this one: clusters.d/*.yaml" });

/** The main file. */
export const configSchema = z
  .strictObject({
    polling: pollingSchema.optional(),
    http_client: httpClientSchema.optional(),
    ...fleetShape,
    config_files: patternsSchema.optional(),
  })
  .refine((config) => config.clusters ?? config.appliances ?? config.config_files, {
    error: "expected at least one of clusters, appliances and config_files",
  })
  .meta({ title: "Configuration of appliance-exporter" });

export type ConfigSettings = z.output<typeof configSchema>;
export type FleetSettings = z.output<typeof fleetSchema>;
export type ClusterSettings = z.output<typeof clusterSchema>;
export type ApplianceSettings = z.output<typeof applianceSchema>;
export type HttpClientSettings = z.output<typeof httpClientSchema>;

/** The schema of the main file as JSON Schema, draft 2020-12, for editors; files of `config_files` satisfy it too. */
export function formatConfigSchema(): string {
  const { $schema, title, ...schema } = z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
  });
  return `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`;
}
