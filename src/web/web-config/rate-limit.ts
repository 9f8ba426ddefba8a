import type { ConfigError } from "../../config/config.ts";
import { errorAt, type YamlFile } from "../../config/yaml/file.ts";
import { readFitting } from "../../config/yaml/fitting.ts";
import { valueAt } from "../../config/yaml/validate.ts";
import { rateLimitSchema } from "./schema.ts";
import type { RateLimit } from "./web-config.ts";

export interface RateLimitReading {
  /** `undefined` where there is no limit, and where it does not fit, which the validation of the file reports. */
  readonly rateLimit: RateLimit | undefined;
  readonly errors: readonly ConfigError[];
}

export function readRateLimit(file: YamlFile): RateLimitReading {
  const { settings, unfit } = readFitting(rateLimitSchema, valueAt(file.data, ["rate_limit"]) ?? {});
  const { interval: intervalMs = 0, burst = 0 } = settings ?? {};
  if (intervalMs === 0 || unfit.has("burst")) return { rateLimit: undefined, errors: [] };
  if (burst > 0) return { rateLimit: { intervalMs, burst }, errors: [] };
  const message = "expected at least 1 beside an interval, or no request would ever be answered";
  return { rateLimit: undefined, errors: [errorAt(file, ["rate_limit", "burst"], message)] };
}
