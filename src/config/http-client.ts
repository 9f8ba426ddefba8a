import { createHmac } from "node:crypto";
import { z } from "zod";
import type {
  BasicAuthConfig,
  ConfigError,
  HttpClientConfig,
  KnownCertificatesConfig,
  TlsClientConfig,
} from "./config.ts";
import type { Checked } from "./errors.ts";
import { parseKnownCertificates, type KnownCertificates } from "./known-certificates.ts";
import { checkKeyPair, readNamedFiles, resolveFrom, type NamedFile, type NamedFiles } from "./named-files.ts";
import { innermost, type Chain, type Placed } from "./places.ts";
import { httpClientSchema, type HttpClientSettings } from "./schema.ts";
import { createSourceReader } from "./sources.ts";
import { Secret } from "../support/secret.ts";
import { loadYaml } from "./validate.ts";
import { errorAt } from "./yaml.ts";

type TlsSettings = NonNullable<HttpClientSettings["tls_config"]>;

export interface ResolvedHttpClient {
  readonly http: HttpClientConfig;
  readonly errors: readonly ConfigError[];
}

/** The files that the `http_client` block of a place names. */
export function namedByHttpClient({ file, path, settings }: Chain[number]): readonly NamedFile[] {
  const { basic_auth: auth, tls_config: tls } = settings.http_client ?? {};
  const at = (...keys: readonly string[]) => [...path, "http_client", ...keys];
  return [
    { kind: "password", file, at: at("basic_auth", "password_file"), name: auth?.password_file },
    { kind: "certificates", file, at: at("tls_config", "ca_file"), name: tls?.ca_file },
    { kind: "certificates", file, at: at("tls_config", "cert_file"), name: tls?.cert_file },
    { kind: "key", file, at: at("tls_config", "key_file"), name: tls?.key_file },
    {
      kind: "known certificates",
      file,
      at: at("tls_config", "known_certificates_file"),
      name: tls?.known_certificates_file,
    },
  ];
}

/**
 * Resolves the `http_client` blocks of a chain: the innermost `basic_auth` and `proxy_url` as a whole, `tls_config` key by
 * key. Appliances with the same blocks share one result, except for their certificates in a known_certificates_file.
 */
export function createHttpClientResolver(
  files: NamedFiles,
  fingerprintKey: Uint8Array,
): (chain: Chain, appliance: string) => ResolvedHttpClient {
  const shared = new Map<string, ResolvedHttpClient>();
  const parsed = new Map<string, KnownCertificates>();
  return (chain, appliance) => {
    const blocks = chain.filter(({ settings }) => settings.http_client !== undefined);
    const key = JSON.stringify(blocks.map(({ file, path }) => [file.file, path]));
    const resolved = shared.get(key) ?? resolveHttpClient(blocks, files, fingerprintKey);
    shared.set(key, resolved);
    const { place, value } = pinSetting(blocks) ?? {};
    if (place === undefined || typeof value !== "string") return resolved;
    const path = resolveFrom(place.file, value);
    const known =
      parsed.get(path) ?? parseKnownCertificates(files.textOf("known certificates", place.file, value) ?? "");
    parsed.set(path, known);
    const http = withKnown(resolved.http, { path, appliance }, known.get(appliance) ?? [], fingerprintKey);
    return { ...resolved, http };
  };
}

/** The innermost list or file of certificates. */
function pinSetting(chain: Chain): Placed<readonly string[] | string> | undefined {
  return innermost(chain, ({ http_client: http }) => {
    const { certificate_sha256: pins, known_certificates_file: file } = http?.tls_config ?? {};
    return pins ?? file;
  });
}

function withKnown(
  http: HttpClientConfig,
  knownCertificates: KnownCertificatesConfig,
  certificateSha256: readonly string[],
  fingerprintKey: Uint8Array,
): HttpClientConfig {
  const fingerprint = digestOf([http.fingerprint, knownCertificates, certificateSha256], fingerprintKey);
  // Authorities do not count then; thousands of appliances would each have a copy.
  const tls = { ...http.tls, ca: undefined, knownCertificates, certificateSha256 };
  return { ...http, tls, fingerprint };
}

function resolveHttpClient(blocks: Chain, files: NamedFiles, fingerprintKey: Uint8Array): ResolvedHttpClient {
  const settings = {
    basicAuth: resolveBasicAuth(blocks),
    tls: resolveTls(blocks, files),
    proxy: innermost(blocks, ({ http_client: http }) => http?.proxy_url)?.value,
  };
  return {
    http: { ...settings, fingerprint: fingerprintOf(settings, fingerprintKey) },
    errors: checkPair(blocks, settings.tls),
  };
}

function resolveBasicAuth(chain: Chain): BasicAuthConfig | undefined {
  const auth = innermost(chain, ({ http_client: http }) => http?.basic_auth);
  if (auth === undefined) return undefined;
  const { username, password = "", password_file: name } = auth.value;
  return name === undefined
    ? { username, password: { kind: "inline", secret: new Secret(password) } }
    : { username, password: { kind: "file", path: resolveFrom(auth.place.file, name) } };
}

function resolveTls(chain: Chain, { textOf }: NamedFiles): TlsClientConfig {
  const pem = (kind: NamedFile["kind"], setting: Placed<string> | undefined) =>
    setting && textOf(kind, setting.place.file, setting.value);
  const key = pem("key", tlsSetting(chain, "key_file"));
  const pins = pinSetting(chain)?.value;
  return {
    ca: pem("certificates", tlsSetting(chain, "ca_file")),
    cert: pem("certificates", tlsSetting(chain, "cert_file")),
    key: key === undefined ? undefined : new Secret(key),
    serverName: tlsSetting(chain, "server_name")?.value,
    minVersion: tlsSetting(chain, "min_version")?.value,
    insecureSkipVerify: tlsSetting(chain, "insecure_skip_verify")?.value ?? false,
    certificateSha256: typeof pins === "object" ? pins : [],
    knownCertificates: undefined,
  };
}

function tlsSetting<K extends keyof TlsSettings>(
  chain: Chain,
  key: K,
): Placed<NonNullable<TlsSettings[K]>> | undefined {
  return innermost(chain, ({ http_client: http }) => http?.tls_config?.[key] ?? undefined);
}

/** A client certificate needs a key that matches, and vice versa. */
function checkPair(chain: Chain, { cert, key }: TlsClientConfig): readonly ConfigError[] {
  const certFile = tlsSetting(chain, "cert_file");
  const keyFile = tlsSetting(chain, "key_file");
  if (certFile && !keyFile) return [pairError(certFile, "cert_file", "needs key_file")];
  if (keyFile && !certFile) return [pairError(keyFile, "key_file", "needs cert_file")];
  // Invalid files are already reported.
  if (!keyFile || cert === undefined || key === undefined) return [];
  const message = checkKeyPair(cert, key.reveal());
  return message === undefined ? [] : [pairError(keyFile, "key_file", message)];
}

function pairError({ place }: Placed<string>, key: string, message: string): ConfigError {
  return errorAt(place.file, [...place.path, "http_client", "tls_config", key], message);
}

/** Equal for equal settings, including secrets; a password file counts by its path. */
function fingerprintOf(
  { basicAuth, tls, proxy }: Omit<HttpClientConfig, "fingerprint">,
  key: Uint8Array,
): string {
  const password = basicAuth?.password;
  const secret = password?.kind === "inline" ? password.secret.reveal() : password?.path;
  return digestOf(
    [
      [basicAuth?.username, password?.kind, secret],
      { ...tls, key: tls.key?.reveal() },
      { ...proxy, credentials: proxy?.credentials?.reveal() },
    ],
    key,
  );
}

function digestOf(settings: unknown, key: Uint8Array): string {
  return createHmac("sha256", key).update(JSON.stringify(settings)).digest("hex");
}

/** The HTTP client settings without any configuration: no credentials, and the authorities of Node.js. */
export const NO_SETTINGS: HttpClientConfig = resolveHttpClient(
  [],
  { textOf: () => undefined, errors: [] },
  new Uint8Array(),
).http;

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
  const place = { file: loaded.file, path: [], settings: loaded.value };
  const files = await readNamedFiles(namedByHttpClient(place), reader);
  const { http, errors } = resolveHttpClient([place], files, new Uint8Array());
  const all = [...files.errors, ...errors];
  return all.length === 0 ? { ok: true, http } : { ok: false, errors: all };
}
