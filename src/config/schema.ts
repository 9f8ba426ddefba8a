import { z } from "zod";
import { byTiming, TIMINGS } from "../api/operation.ts";
import { MAX_WEBSITES } from "../api/website-list.ts";
import type { WebsiteConfig } from "./config.ts";
import { parseFingerprint } from "./known-certificates.ts";
import { parseStatusRange } from "./status-set.ts";
import {
  applianceNameSchema,
  baseUrlSchema,
  durationSchema,
  fileSchema,
  labelsSchema,
  nameSchema,
  parsed,
  proxyUrlSchema,
  scheduleSchema,
  textOrNumber,
} from "./values.ts";

function optional<T extends z.ZodType>(schema: T, description: string): z.ZodOptional<T> {
  return schema.meta({ description }).optional();
}

const timingSchema = z
  .strictObject({
    interval: optional(
      durationSchema("1s", "1d"),
      "Time from one poll to the next: 1s to 1d. Displaces an outer schedule.",
    ),
    schedule: optional(
      scheduleSchema,
      "A node-cron expression of six fields, seconds first. Displaces an outer interval.",
    ),
    timeout: optional(durationSchema("1ms", "1d"), "How long a poll may take; at most the interval."),
  })
  .refine((timing) => timing.interval === undefined || timing.schedule === undefined, {
    path: ["schedule"],
    error: "expected either interval or schedule, got both",
  });

const innerPollingShape = {
  ...byTiming((name) => {
    const { what, intervalMs, timeoutMs } = TIMINGS[name];
    const byDefault = `every ${intervalMs / 1_000}s, timeout ${timeoutMs / 1_000}s`;
    return optional(timingSchema, `${what}; default: ${byDefault}.`);
  }),
  max_concurrent_website_tests_per_appliance: optional(
    z.int().min(1).max(1_000),
    "Simultaneous website tests of one appliance; default: 4.",
  ),
};

const innerPollingSchema = z.strictObject(innerPollingShape).meta({
  id: "polling",
  description: "When appliances are polled; inner blocks override outer ones key by key.",
});

const pollingSchema = z.strictObject({
  ...innerPollingShape,
  max_concurrent_website_tests: optional(
    z.int().min(1).max(10_000),
    "Simultaneous website tests of the fleet; default: 64.",
  ),
});

/** A user and the password. Messages show no values. RFC 7617 forbids control characters, and a colon in the user name. */
export const basicAuthSchema = z
  .strictObject({
    username: z
      .string()
      .regex(/^[^:\p{Cc}]+$/u, "expected a non-empty user name without colons and control characters"),
    password: optional(
      z.string().regex(/^\P{Cc}+$/u, "expected a non-empty password without control characters"),
      "The password itself; password_file is safer.",
    ),
    password_file: optional(
      fileSchema,
      "A file that contains the password; it is read again when it changes.",
    ),
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
    ca_file: optional(fileSchema, "Certificates of the trusted authorities, PEM; default: those of Node.js."),
    cert_file: optional(fileSchema, "The client certificate, PEM; needs key_file."),
    key_file: optional(fileSchema, "The key of the client certificate, PEM; needs cert_file."),
    server_name: optional(
      z.string().regex(/^[\w.:-]{1,253}$/, "expected a host name"),
      "The expected name in the certificate; default: the host of base_url.",
    ),
    min_version: optional(tlsVersionSchema, "The lowest TLS version to accept."),
    insecure_skip_verify: optional(z.boolean(), "Accept any certificate; default: false."),
    certificate_sha256: optional(
      z.array(pinSchema),
      "SHA-256 fingerprints: the presented certificate must be one of these. Displaces an outer known_certificates_file.",
    ),
    known_certificates_file: optional(
      fileSchema,
      "A file with a line NAME SHA256 for each appliance, the only certificates to trust; the command trust adds them. " +
        "Displaces an outer certificate_sha256.",
    ),
  })
  .refine(({ cert_file: cert, key_file: key }) => (cert === undefined) === (key === undefined), {
    error: "expected both cert_file and key_file, or none of them",
  })
  .refine((tls) => tls.certificate_sha256 === undefined || tls.known_certificates_file === undefined, {
    error: "expected either certificate_sha256 or known_certificates_file, got both",
  });

export const httpClientSchema = z
  .strictObject({
    basic_auth: optional(
      basicAuthSchema,
      "Credentials for HTTP Basic authentication; an inner block replaces an outer one as a whole.",
    ),
    tls_config: optional(
      tlsConfigSchema,
      "TLS settings for the appliance; an inner block overrides an outer one key by key.",
    ),
    proxy_url: optional(proxyUrlSchema, "The proxy to use: http://[user:password@]host:port."),
  })
  .meta({ id: "http_client", description: "HTTP client settings; inner blocks override outer ones." });

const idSchema = parsed("a website's id: a whole number, 0 or greater", parseId, textOrNumber).meta({
  description: "The website's id on the appliance: a whole number, 0 or greater.",
});

function parseId(text: string): number | undefined {
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

const statusSchema = parsed(
  "a status code such as 401, or a range such as 200-399",
  parseStatusRange,
  textOrNumber,
);

const PROTOCOLS = { http: ["http"], https: ["https"], both: ["http", "https"] } as const;

const websiteObject = z.strictObject({
  id: idSchema,
  name: optional(nameSchema, "The `website` label; default: the id."),
  protocol: optional(
    z.enum(["http", "https", "both"]),
    "The protocols to export; default: those in the response.",
  ),
  expect_status: optional(
    z.array(statusSchema).min(1),
    "Status codes and ranges that count as up; default: [200-399].",
  ),
});

/** A website: only its id, or a map. */
const websiteSchema = z
  .union([idSchema, websiteObject], { error: "expected a website's id, or a map with an id" })
  .transform((website): WebsiteConfig => {
    const {
      id,
      name,
      protocol,
      expect_status: ranges,
    }: z.output<typeof websiteObject> = typeof website === "number" ? { id: website } : website;
    return {
      id,
      name: name ?? String(id),
      protocols: protocol && PROTOCOLS[protocol],
      expectStatus: { ranges: ranges ?? [{ from: 200, to: 399 }] },
    };
  });

const discoverySchema = z.union([
  z.boolean(),
  z.strictObject({
    exclude: optional(z.array(idSchema), "Ids of websites to leave out."),
    limit: optional(
      z.int().min(1).max(MAX_WEBSITES),
      "Websites of one appliance, those with the lowest ids; default: 200.",
    ),
  }),
]);

const discovery = {
  website_discovery: optional(
    discoverySchema,
    "Discover the websites of appliances; default: false. An entry in websites overrides what is discovered.",
  ),
};

/** Settings of both clusters and appliances. */
const innerShape = {
  labels: labelsSchema.optional(),
  websites: optional(z.array(websiteSchema), "Websites to test; an appliance's are added to its cluster's."),
  ...discovery,
  polling: innerPollingSchema.optional(),
  http_client: httpClientSchema.optional(),
};

const applianceSchema = z
  .strictObject({
    name: applianceNameSchema.meta({ description: "Unique over all files; the `appliance` label." }),
    base_url: baseUrlSchema.meta({
      description:
        "https://host:port and the path before /api/v1, if any; without credentials, query and fragment.",
    }),
    allow_http: optional(z.boolean(), "Allow an http:// base_url, which sends credentials unencrypted."),
    enabled: optional(z.boolean(), "false keeps the entry and does not poll it; default: true."),
    ...innerShape,
  })
  .refine((appliance) => appliance.allow_http === true || !appliance.base_url.startsWith("http://"), {
    path: ["base_url"],
    error: "expected an https:// URL, got http://; set allow_http: true to allow that",
  })
  .meta({ id: "appliance", description: "A device that serves the management API." });

const clusterSchema = z
  .strictObject({
    name: applianceNameSchema.meta({ description: "Unique over all files; the `ha_cluster` label." }),
    appliances: z.array(applianceSchema).meta({ description: "The members of the cluster." }),
    ...innerShape,
  })
  .meta({ id: "cluster", description: "Appliances that back each other up." });

const fleetShape = {
  clusters: optional(z.array(clusterSchema), "Appliances that back each other up."),
  appliances: optional(
    z.array(applianceSchema),
    "Appliances without a cluster: each is a cluster of its own name.",
  ),
};

/** A file that `config_files` names. */
export const fleetSchema = z.strictObject(fleetShape);

export const patternsSchema = z.array(
  z.string().regex(/^(?:[^*]*\/)?[^/]+$/, "expected the path of a file, with * only in its last part"),
);

/** The main file. */
export const configSchema = z
  .strictObject({
    polling: optional(pollingSchema, "When appliances are polled: the defaults for all of them."),
    http_client: httpClientSchema.optional(),
    ...discovery,
    ...fleetShape,
    config_files: optional(
      patternsSchema,
      "More files with clusters and appliances, relative to this one: clusters.d/*.yaml",
    ),
  })
  .refine((config) => config.clusters ?? config.appliances ?? config.config_files, {
    error: "expected at least one of clusters, appliances and config_files",
  })
  .meta({ title: "Configuration of appliance-exporter" });

export type PollingSettings = z.output<typeof innerPollingSchema>;
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
