import { createHash } from "node:crypto";
import { z } from "zod";
import type { BasicAuthConfig, ConfigError, HttpClientConfig, TlsClientConfig } from "./config.ts";
import type { Checked } from "./errors.ts";
import { parseKnownCertificates, type KnownCertificates } from "./known-certificates.ts";
import { createNamedFiles, resolveFrom, type NamedFiles } from "./named-files.ts";
import type { Place } from "./places.ts";
import { httpClientSchema, type HttpClientSettings } from "./schema.ts";
import { createSourceReader } from "./sources.ts";
import { Secret } from "../support/secret.ts";
import { loadYaml } from "./validate.ts";

/** The settings of one or several `http_client` blocks. */
export interface HttpClientBlocks {
  /** The settings that appliances share. */
  readonly http: HttpClientConfig;
  /** A `known_certificates_file`, whose certificates differ between appliances. */
  readonly known: { readonly path: string; readonly certificates: KnownCertificates } | undefined;
}

type HttpClientPlace = Place<{ readonly http_client?: HttpClientSettings | undefined }>;

/** Resolves `http_client` blocks. */
export interface HttpClientResolver {
  /** The outer settings, overridden by a block: `basic_auth` and `proxy_url` as a whole, `tls_config` key by key. */
  override(outer: HttpClientBlocks, place: HttpClientPlace): Promise<HttpClientBlocks>;
  /** The settings of one appliance. Without known certificates, they are the same object for all. */
  resolve(blocks: HttpClientBlocks, appliance: string): HttpClientConfig;
}

export function createHttpClientResolver(files: NamedFiles): HttpClientResolver {
  const parsed = new Map<string, KnownCertificates>();

  async function readKnown(place: HttpClientPlace, name: string): Promise<HttpClientBlocks["known"]> {
    const at = [...place.path, "http_client", "tls_config", "known_certificates_file"];
    const text = (await files.read("known certificates", place.file, at)) ?? "";
    const path = resolveFrom(place.file, name);
    const certificates = parsed.get(path) ?? parseKnownCertificates(text);
    parsed.set(path, certificates);
    return { path, certificates };
  }

  return {
    override: async (outer, place) => {
      const { http_client: block } = place.settings;
      if (block === undefined) return outer;
      const { tls_config: tls, proxy_url: proxy } = block;
      const { certificate_sha256: pins, known_certificates_file: knownFile } = tls ?? {};
      const known = knownFile === undefined ? undefined : await readKnown(place, knownFile);
      return {
        http: withFingerprint({
          basicAuth: (await resolveBasicAuth(place, block, files)) ?? outer.http.basicAuth,
          tls: tls === undefined ? outer.http.tls : await overrideTls(outer.http.tls, tls, place, files),
          proxy: proxy ?? outer.http.proxy,
        }),
        known: pins === undefined ? (known ?? outer.known) : undefined,
      };
    },
    resolve: ({ http, known }, appliance) => {
      if (known === undefined) return http;
      const { path, certificates } = known;
      const knownCertificates = { path, appliance };
      const certificateSha256 = certificates.get(appliance) ?? [];
      // Authorities do not count then; thousands of appliances would each have a copy.
      const tls = { ...http.tls, ca: undefined, knownCertificates, certificateSha256 };
      const fingerprint = digestOf([http.fingerprint, knownCertificates, certificateSha256]);
      return { ...http, tls, fingerprint };
    },
  };
}

async function overrideTls(
  outer: TlsClientConfig,
  tls: NonNullable<HttpClientSettings["tls_config"]>,
  { file, path }: HttpClientPlace,
  files: NamedFiles,
): Promise<TlsClientConfig> {
  const at = [...path, "http_client", "tls_config"];
  const { cert = outer.cert, key } = await files.readKeyPair(file, at);
  return {
    ca: (await files.read("certificates", file, [...at, "ca_file"])) ?? outer.ca,
    cert,
    key: key === undefined ? outer.key : new Secret(key),
    serverName: tls.server_name ?? outer.serverName,
    minVersion: tls.min_version ?? outer.minVersion,
    insecureSkipVerify: tls.insecure_skip_verify ?? outer.insecureSkipVerify,
    certificateSha256:
      tls.known_certificates_file === undefined ? (tls.certificate_sha256 ?? outer.certificateSha256) : [],
    knownCertificates: undefined,
  };
}

async function resolveBasicAuth(
  { file, path }: HttpClientPlace,
  { basic_auth: auth }: HttpClientSettings,
  files: NamedFiles,
): Promise<BasicAuthConfig | undefined> {
  if (auth === undefined) return undefined;
  const { username, password = "", password_file: name } = auth;
  if (name === undefined) return { username, password: { kind: "inline", secret: new Secret(password) } };
  await files.read("password", file, [...path, "http_client", "basic_auth", "password_file"]);
  return { username, password: { kind: "file", path: resolveFrom(file, name) } };
}

/** Equal for equal settings, including secrets; a password file counts by its path. */
function withFingerprint(settings: Omit<HttpClientConfig, "fingerprint">): HttpClientConfig {
  const { basicAuth, tls, proxy } = settings;
  const password = basicAuth?.password;
  const fingerprint = digestOf([
    [basicAuth?.username, password?.kind === "inline" ? password.secret.reveal() : password],
    { ...tls, key: tls.key?.reveal() },
    { ...proxy, credentials: proxy?.credentials?.reveal() },
  ]);
  return { ...settings, fingerprint };
}

function digestOf(settings: unknown): string {
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex");
}

/** The HTTP client settings without any configuration: no credentials, and the authorities of Node.js. */
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
    knownCertificates: undefined,
  },
  proxy: undefined,
  fingerprint: "",
};

const standaloneSchema = z.strictObject({
  http_client: httpClientSchema.refine((http) => http.tls_config?.known_certificates_file === undefined, {
    path: ["tls_config", "known_certificates_file"],
    error: "it has certificates of appliances only; use certificate_sha256",
  }),
});

/** Loads a file that contains only `http_client`, and the files that it names. */
export async function loadHttpClient(path: string): Promise<Checked<{ readonly http: HttpClientConfig }>> {
  const reader = createSourceReader();
  const loaded = await loadYaml(path, standaloneSchema, reader);
  if (!loaded.ok) return loaded;
  const errors: ConfigError[] = [];
  const files = createNamedFiles(reader, (error) => errors.push(error));
  const place = { file: loaded.file, path: [], settings: loaded.value };
  const outer = { http: NO_SETTINGS, known: undefined };
  const { http } = await createHttpClientResolver(files).override(outer, place);
  return errors.length === 0 ? { ok: true, http } : { ok: false, errors };
}
