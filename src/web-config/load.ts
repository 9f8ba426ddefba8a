import type { ConfigError } from "../config/config.ts";
import { sortErrors } from "../config/errors.ts";
import { recordSources, type Source } from "../config/sources.ts";
import { errorAt, readYamlFile, type YamlFile } from "../config/yaml/file.ts";
import { validateYaml } from "../config/yaml/validate.ts";
import { withHeadersAsTexts } from "./headers.ts";
import { readPemSources } from "./pem-sources.ts";
import { webConfigSchema, type WebSettings } from "./schema.ts";
import { resolveTls } from "./tls.ts";
import { readUsers } from "./users.ts";
import type { RateLimit, WebConfig } from "./web-config.ts";

/** `sources`: all that was read, as it was found, so that no change between two readings is lost. */
export type WebConfigResult =
  | { readonly ok: true; readonly config: WebConfig; readonly sources: readonly Source[] }
  | { readonly ok: false; readonly errors: readonly ConfigError[]; readonly sources: readonly Source[] };

/**
 * The web configuration of a file and the files named in it, or every error with its position. Takes the format of
 * Prometheus's exporter-toolkit. An empty file is refused: half written, it would open everything to everybody.
 */
export async function loadWebConfig(path: string): Promise<WebConfigResult> {
  const record = recordSources();
  const read = await readYamlFile(path, record.readText);
  if (!read.ok) return { ...read, sources: record.sources() };
  const file = withHeadersAsTexts({ ...read.file, data: read.file.data ?? {} });
  const validated = validateYaml(file, webConfigSchema);
  const pems = await readPemSources(file, record);
  const { users, errors: userErrors } = readUsers(file);
  const limited = readRateLimit(file, validated.ok ? validated.value : {});
  const found = [...(validated.ok ? [] : validated.errors), ...pems.errors, ...userErrors, ...limited.errors];
  const tls =
    validated.ok && pems.errors.length === 0
      ? resolveTls(file, validated.value.tls_server_config, pems)
      : undefined;
  const errors = tls === undefined || tls.ok ? found : [...found, ...tls.errors];
  if (!validated.ok || tls === undefined || !tls.ok || errors.length > 0) {
    return { ok: false, errors: sortErrors([path], errors), sources: record.sources() };
  }
  const http = validated.value.http_server_config;
  return {
    ok: true,
    config: {
      tls: tls.tls,
      users,
      headers: definedOnly(http?.headers ?? {}),
      rateLimit: limited.rateLimit,
      wantsHttp2: http?.http2 === true,
    },
    sources: record.sources(),
  };
}

function readRateLimit(
  file: YamlFile,
  { rate_limit: given }: WebSettings,
): { readonly rateLimit: RateLimit | undefined; readonly errors: readonly ConfigError[] } {
  const { interval: intervalMs = 0, burst = 0 } = given ?? {};
  if (intervalMs === 0) return { rateLimit: undefined, errors: [] };
  if (burst > 0) return { rateLimit: { intervalMs, burst }, errors: [] };
  const message = "expected at least 1 beside an interval, or no request would ever be answered";
  return { rateLimit: undefined, errors: [errorAt(file, ["rate_limit", "burst"], message)] };
}

function definedOnly(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(entries);
}
