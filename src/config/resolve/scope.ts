import type { z } from "zod";
import type { WebsiteConfig } from "../config.ts";
import type { JsonPath } from "../errors.ts";
import { baseUrlSchema, enabledSchema } from "../schema/config-file.ts";
import { knownHttpClientSchema } from "../schema/http-client.ts";
import { knownTimingSchema, pollingSchema, type Timing } from "../schema/polling.ts";
import { labelsSchema, nameSchema } from "../schema/values.ts";
import { websiteSchema } from "../schema/websites.ts";
import { valueAt } from "../yaml/validate.ts";
import type { YamlFile } from "../yaml/file.ts";

/**
 * A place that settings stand in: the top of the main file, a cluster, an appliance. A setting is `undefined` where it
 * is missing, and where it does not fit, which the validation of the whole file reports.
 */
export interface Scope {
  readonly file: YamlFile;
  readonly path: JsonPath;
  readonly name: string | undefined;
  readonly baseUrl: string | undefined;
  readonly enabled: boolean | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** `undefined` in place of one that does not fit. */
  readonly websites: readonly (WebsiteConfig | undefined)[] | undefined;
  /** Empty where it is missing; `undefined` only where it does not fit, so that nothing can be concluded from it. */
  readonly timing: Readonly<Record<Operation, Timing | undefined>>;
  readonly maxConcurrentWebsiteTests: number | undefined;
  /** Likewise. */
  readonly http: z.output<typeof knownHttpClientSchema> | undefined;
}

/** The two blocks of `polling`. */
export type Operation = "vrrp" | "websites";

/** One appliance's scopes, the outermost first. */
export type Chain = readonly Scope[];

/** Reads each setting of a place for itself, so that one that does not fit hides no other. */
export function readScope(file: YamlFile, path: JsonPath): Scope {
  const place = valueAt(file.data, path);
  const read = <T>(schema: z.ZodType<T>, ...keys: JsonPath): T | undefined => {
    const given = valueAt(place, keys);
    return given === undefined ? undefined : schema.safeParse(given).data;
  };
  const readBlock = <T>(schema: z.ZodType<T>, ...keys: JsonPath): T | undefined => {
    const given = valueAt(place, keys);
    return schema.safeParse(given === undefined ? {} : given).data;
  };
  const websites = valueAt(place, ["websites"]);
  const perAppliance = "max_concurrent_website_tests_per_appliance";
  return {
    file,
    path,
    name: read(nameSchema, "name"),
    baseUrl: read(baseUrlSchema, "base_url"),
    enabled: read(enabledSchema, "enabled"),
    labels: read(labelsSchema, "labels"),
    websites: Array.isArray(websites)
      ? websites.map((_, index) => read(websiteSchema, "websites", index))
      : undefined,
    timing: {
      vrrp: readBlock(knownTimingSchema, "polling", "vrrp"),
      websites: readBlock(knownTimingSchema, "polling", "websites"),
    },
    maxConcurrentWebsiteTests: read(pollingSchema.shape[perAppliance], "polling", perAppliance),
    http: readBlock(knownHttpClientSchema, "http_client"),
  };
}

/** A setting, the scope that has it, and how far in that is. */
export interface Placed<T> {
  readonly scope: Scope;
  readonly depth: number;
  readonly value: T;
}

/** The setting of the innermost scope that has it. */
export function innermost<T>(chain: Chain, pick: (scope: Scope) => T | undefined): Placed<T> | undefined {
  for (const [depth, scope] of [...chain.entries()].toReversed()) {
    const value = pick(scope);
    if (value !== undefined) return { scope, depth, value };
  }
  return undefined;
}
