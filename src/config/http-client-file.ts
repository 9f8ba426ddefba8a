import { z } from "zod";
import type { ConfigError, HttpClientConfig } from "./config.ts";
import { sortErrors } from "./errors.ts";
import { createHttpClientResolver } from "./resolve/http-client.ts";
import { readReferencedFiles } from "./resolve/referenced-files.ts";
import { readScope } from "./resolve/scope.ts";
import { httpClientSchema } from "./schema/http-client.ts";
import { recordSources } from "./sources.ts";
import { readYamlFile } from "./yaml/file.ts";
import { validateYaml } from "./yaml/validate.ts";

export type HttpClientResult =
  | { readonly ok: true; readonly http: HttpClientConfig }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** Where nothing is set: no credentials, and the authorities that Node brings. */
export const NO_SETTINGS: HttpClientConfig = {
  basicAuth: undefined,
  tls: {
    ca: undefined,
    cert: undefined,
    key: undefined,
    serverName: undefined,
    minVersion: undefined,
    insecureSkipVerify: false,
    certificateSha256: [],
  },
  proxy: undefined,
  fingerprint: "",
};

const schema = z.strictObject({ http_client: httpClientSchema });

/** The settings in a file that holds `http_client` alone, with all that it names, or everything that is wrong with it. */
export async function loadHttpClient(path: string): Promise<HttpClientResult> {
  const record = recordSources();
  const read = await readYamlFile(path, record.readText);
  if (!read.ok) return read;
  const validated = validateYaml(read.file, schema);
  const scope = readScope(read.file, []);
  const referenced = await readReferencedFiles([scope], record);
  const { http, errors } = createHttpClientResolver(referenced.pems)([scope]);
  const all = [...(validated.ok ? [] : validated.errors), ...referenced.errors, ...errors];
  return all.length === 0 ? { ok: true, http } : { ok: false, errors: sortErrors([path], all) };
}
