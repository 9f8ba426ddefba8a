import type { ConfigError } from "../../config/config.ts";
import { sortErrors } from "../../config/errors.ts";
import { recordSources, type Source } from "../../config/sources.ts";
import { readYamlFile } from "../../config/yaml/file.ts";
import { validateYaml } from "../../config/yaml/validate.ts";
import { withHeadersAsTexts } from "./headers.ts";
import { readPemSources } from "./pem-sources.ts";
import { readRateLimit } from "./rate-limit.ts";
import { webConfigSchema } from "./schema.ts";
import { resolveTls } from "./tls.ts";
import { readUsers } from "./users.ts";
import type { WebConfig } from "./web-config.ts";

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
  const limited = readRateLimit(file);
  const { tls, errors: tlsErrors } = resolveTls(file, pems);
  const others = [...pems.errors, ...userErrors, ...limited.errors, ...tlsErrors];
  if (!validated.ok || others.length > 0) {
    const errors = [...(validated.ok ? [] : validated.errors), ...others];
    return { ok: false, errors: sortErrors([path], errors), sources: record.sources() };
  }
  const http = validated.value.http_server_config;
  return {
    ok: true,
    config: {
      tls,
      users,
      headers: definedOnly(http?.headers ?? {}),
      rateLimit: limited.rateLimit,
      wantsHttp2: http?.http2 === true,
    },
    sources: record.sources(),
  };
}

function definedOnly(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Object.fromEntries(entries);
}
