import { z } from "zod";
import type { BasicAuthConfig, HttpClientConfig, TlsClientConfig } from "./config.ts";
import { parseKnownCertificates } from "./known-certificates.ts";
import { collect, type Loaded } from "./sources.ts";
import { createNamedFiles, resolveFrom, type NamedFiles } from "./named-files.ts";
import { httpClientSchema, type HttpClientSettings } from "./schema.ts";
import { Secret } from "../support/secret.ts";
import { loadYaml, type Place } from "./validate.ts";

/** The settings of one or several `http_client` blocks. */
export interface HttpClientBlocks {
  /** The settings that appliances share. */
  readonly http: HttpClientConfig;
  /** The text of a `known_certificates_file`, whose certificates differ between appliances. */
  readonly known: { readonly path: string; readonly text: string } | undefined;
}

/** Returns the outer settings, overridden by a block: `basic_auth` and `proxy_url` as a whole, `tls_config` key by key. */
export async function overrideHttp(
  outer: HttpClientBlocks,
  { file, path, settings }: Place<{ readonly http_client?: HttpClientSettings | undefined }>,
  files: NamedFiles,
): Promise<HttpClientBlocks> {
  const { http_client: block } = settings;
  if (block === undefined) return outer;
  const place = { file, path: [...path, "http_client"], settings: block };
  const http = {
    basicAuth: (await readBasicAuth(place, files)) ?? outer.http.basicAuth,
    tls: await overrideTls(outer.http.tls, place, files),
    proxy: block.proxy_url ?? outer.http.proxy,
  };
  const { certificate_sha256: pins, known_certificates_file: name } = block.tls_config ?? {};
  if (name === undefined) return { http, known: pins === undefined ? outer.known : undefined };
  const at = [...place.path, "tls_config", "known_certificates_file"];
  const text = (await files.read("known certificates", file, at)) ?? "";
  return { http, known: { path: resolveFrom(file, name), text } };
}

async function readBasicAuth(
  { file, path, settings: { basic_auth: auth } }: Place<HttpClientSettings>,
  files: NamedFiles,
): Promise<BasicAuthConfig | undefined> {
  if (auth === undefined) return undefined;
  const { username, password = "", password_file: name } = auth;
  if (name === undefined) return { username, password: { kind: "inline", secret: new Secret(password) } };
  await files.read("password", file, [...path, "basic_auth", "password_file"]);
  return { username, password: { kind: "file", path: resolveFrom(file, name) } };
}

async function overrideTls(
  outer: TlsClientConfig,
  { file, path, settings: { tls_config: tls } }: Place<HttpClientSettings>,
  files: NamedFiles,
): Promise<TlsClientConfig> {
  if (tls === undefined) return outer;
  const at = [...path, "tls_config"];
  const { cert = outer.cert, key } = await files.readKeyPair(file, at);
  return {
    ca: (await files.read("certificates", file, [...at, "ca_file"])) ?? outer.ca,
    cert,
    key: key === undefined ? outer.key : new Secret(key),
    serverName: tls.server_name ?? outer.serverName,
    minVersion: tls.min_version ?? outer.minVersion,
    insecureSkipVerify: tls.insecure_skip_verify ?? outer.insecureSkipVerify,
    certificateSha256: tls.certificate_sha256 ?? outer.certificateSha256,
  };
}

/** Returns the settings of each appliance. Without known certificates, they are the same object for all. */
export function createHttpOf(): (blocks: HttpClientBlocks, appliance: string) => HttpClientConfig {
  /** The key is the text, since the blocks of many appliances may name the same file. */
  const parsed = new Map<string, ReadonlyMap<string, readonly string[]>>();
  return ({ http, known }, appliance) => {
    if (known === undefined) return http;
    const certificates = parsed.get(known.text) ?? parseKnownCertificates(known.text).known;
    parsed.set(known.text, certificates);
    const tls = {
      ...http.tls,
      // Authorities do not count then; thousands of appliances would each have a copy.
      ca: undefined,
      certificateSha256: certificates.get(appliance) ?? [],
      knownCertificates: { path: known.path, appliance },
    };
    return { ...http, tls };
  };
}

/** The HTTP client settings without any configuration: no credentials, and the authorities of Node.js. */
export const NO_SETTINGS: HttpClientConfig = { tls: { insecureSkipVerify: false, certificateSha256: [] } };

const standaloneSchema = z.strictObject({
  http_client: httpClientSchema.refine((http) => http.tls_config?.known_certificates_file === undefined, {
    error: "known_certificates_file has certificates of appliances only; use certificate_sha256",
  }),
});

/** Loads a file that contains only `http_client`, and the files that it names. */
export function loadHttpClient(path: string): Promise<Loaded<Pick<HttpClientBlocks, "http">>> {
  return collect(async (collector) => {
    const place = await loadYaml(path, standaloneSchema, collector);
    return place && overrideHttp({ http: NO_SETTINGS, known: undefined }, place, createNamedFiles(collector));
  });
}
