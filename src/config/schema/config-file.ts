import { z } from "zod";
import { httpClientSchema } from "./http-client.ts";
import { innerPollingSchema, pollingSchema } from "./polling.ts";
import { isMap, labelsSchema, nameSchema, parsed } from "./values.ts";
import { websitesSchema } from "./websites.ts";
import { parseBaseUrl } from "./url-setting.ts";
import { listOf } from "../yaml/collections.ts";
import { expected, show } from "../yaml/wording.ts";

/** What may stand in a cluster and in an appliance alike. */
const innerShape = {
  labels: labelsSchema.optional(),
  websites: websitesSchema.optional(),
  polling: innerPollingSchema.optional(),
  http_client: httpClientSchema.optional(),
};

export const baseUrlSchema = parsed(z.string({ error: expected("an https:// URL") }), parseBaseUrl);

export const enabledSchema = z.boolean({ error: expected("true or false") });

const applianceSchema = z
  .strictObject({
    name: nameSchema.meta({ description: "Unique over all files; the `appliance` label." }),
    base_url: baseUrlSchema.meta({
      description:
        "https://host:port, a path before /api/v1 included; without credentials, query and fragment.",
    }),
    allow_http: z
      .boolean()
      .meta({ description: "Allow an http:// base_url: credentials then travel in the clear." })
      .optional(),
    enabled: enabledSchema
      .meta({ description: "false keeps the entry and does not poll it; default: true." })
      .optional(),
    ...innerShape,
  })
  .refine((appliance) => appliance.allow_http === true || !isPlainHttp(appliance.base_url), {
    path: ["base_url"],
    error: "expected an https:// URL, got one with http://; allow_http: true beside it allows that",
    when: isMap,
  })
  .meta({ id: "appliance", description: "A device that serves the management API." });

function isPlainHttp(baseUrl: unknown): boolean {
  return typeof baseUrl === "string" && baseUrl.startsWith("http://");
}

const clusterSchema = z
  .strictObject({
    name: nameSchema.meta({ description: "Unique over all files; the `ha_cluster` label." }),
    appliances: listOf(applianceSchema, { description: "The members of the cluster." }),
    ...innerShape,
  })
  .meta({ id: "cluster", description: "The appliances that back each other up." });

const fleetShape = {
  clusters: listOf(clusterSchema, { description: "Appliances that back each other up." }).optional(),
  appliances: listOf(applianceSchema, {
    description: "Appliances that stand alone: each a cluster of one, named like it.",
  }).optional(),
};

/** A file that `config_files` names. */
export const fleetSchema = z.strictObject(fleetShape);

/** The longest path that Linux takes. */
const MAX_PATTERN_LENGTH = 4_096;

/** Each is looked for in its folder, at every check of the files. */
export const MAX_PATTERNS = 1_000;

export const patternSchema = parsed(
  z.string({ error: expected("a path, with * in its last part at most") }),
  (pattern) =>
    pattern.length <= MAX_PATTERN_LENGTH && /^(?:[^*]*\/)?[^/]+$/.test(pattern)
      ? { ok: true, value: pattern }
      : {
          ok: false,
          message: `expected the path of a file, with * in its last part at most, got ${show(pattern)}`,
        },
);

/** The main file. */
export const configSchema = z
  .strictObject({
    polling: pollingSchema.optional(),
    http_client: httpClientSchema.optional(),
    ...fleetShape,
    config_files: listOf(patternSchema, {
      max: MAX_PATTERNS,
      description: "More files with clusters and appliances, relative to this one: clusters.d/*.yaml",
    }).optional(),
  })
  .refine((config) => "clusters" in config || "appliances" in config || "config_files" in config, {
    error: "expected at least one of clusters, appliances and config_files",
    when: isMap,
  })
  .meta({ title: "Configuration of appliance-exporter" });
