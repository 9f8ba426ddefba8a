import { z } from "zod";
import type { BasicAuthConfig, HttpClientConfig, TlsClientConfig } from "./config.ts";
import { parseKnownCertificates } from "./known-certificates.ts";
import { collect, type Loaded } from "./sources.ts";
import { areAccepted, createNamedFiles, resolveFrom, type NamedFiles } from "./named-files.ts";
import { httpClientSchema, type HttpClientSettings } from "./schema.ts";
import { tlsStrength } from "./tls-strength.ts";
import { Secret } from "../../support/secret.ts";
import { loadYaml, override, type Place } from "./validate.ts";
import type { YamlFile } from "./yaml.ts";

/** A block that may have an `http_client`. */
type HttpPlace = Place<{ readonly http_client?: HttpClientSettings | undefined }>;

/** The file beside the configuration that `appliance-exporter trust` writes where no setting says which certificates to trust. */
export const KNOWN_CERTIFICATES = "known_certificates";

/**
 * Returns a function that reads the files of blocks, the outermost first, and merges their settings: an inner block overrides `basic_auth`
 * and `proxy_url` as a whole, and `tls_config` key by key. The result has the settings of each appliance by its name; without known
 * certificates, these are the same object for all. Where no setting says which certificates to trust, those count that the file
 * `known_certificates` beside `main` has for the appliance.
 */
export function createHttpResolver(files: NamedFiles, main?: YamlFile) {
  /** The key is the text, since the blocks of many appliances may name the same file. */
  const parsed = new Map<string, ReadonlyMap<string, readonly string[]>>();

  async function readBlock({ file, path, settings }: HttpPlace) {
    const { basic_auth: auth, tls_config: tls = {}, proxy_url: proxy } = settings.http_client ?? {};
    const { certificate_sha256: pins, known_certificates_file: name } = tls;
    const block = { file, path: [...path, "http_client"] };
    await files.read("password", block, "basic_auth", "password_file");
    const { cert, key } = await files.readKeyPair(
      block,
      "tls_config",
      tlsStrength({ insecureLegacyTls: true }),
    );
    const text =
      (await files.read("known certificates", block, "tls_config", "known_certificates_file")) ?? "";
    const certificates = parsed.get(text) ?? parseKnownCertificates(text).known;
    parsed.set(text, certificates);
    return {
      basicAuth: auth && basicAuthOf(auth, file),
      proxy,
      ca: await files.read("certificates", block, "tls_config", "ca_file"),
      cert,
      key: key === undefined ? undefined : new Secret(key),
      serverName: tls.server_name,
      minVersion: tls.min_version,
      insecureLegacyTls: tls.insecure_legacy_tls,
      insecureSkipVerify: tls.insecure_skip_verify,
      pins,
      // Pins displace the file of an outer block.
      known:
        name === undefined ? pins && null : { path: resolveFrom(file, name), certificates, isDefault: false },
    };
  }

  async function readDefault(file: YamlFile) {
    const text = await files.readBeside("known certificates", file, KNOWN_CERTIFICATES);
    const { known: certificates } = parseKnownCertificates(text ?? "");
    return { path: resolveFrom(file, KNOWN_CERTIFICATES), certificates, isDefault: true };
  }

  return async (places: readonly HttpPlace[]): Promise<(appliance: string) => HttpClientConfig> => {
    const blocks: Awaited<ReturnType<typeof readBlock>>[] = [];
    for (const place of places) blocks.push(await readBlock(place));
    const {
      basicAuth,
      proxy,
      pins = [],
      known: named,
      insecureSkipVerify = false,
      ...rest
    } = blocks.reduce(override);
    const tls = { ...rest, insecureSkipVerify, certificateSha256: pins };
    const own = places[blocks.findLastIndex(({ key }) => key !== undefined)];
    if (own !== undefined && !isStrongEnough(tls))
      own.file.report([...own.path, "http_client", "tls_config", "key_file"], WEAK_KEY);
    const http = { basicAuth, proxy, tls };
    const hasDefault =
      main !== undefined && named === undefined && rest.ca === undefined && !insecureSkipVerify;
    const known = hasDefault ? await readDefault(main) : named;
    if (!known) return () => http;
    const { path, certificates, isDefault } = known;
    // Authorities have no effect then, and thousands of appliances would each have a copy.
    const withoutCa = { ...tls, ca: undefined };
    return (appliance) => {
      const certificateSha256 = certificates.get(appliance) ?? [];
      const isOptional = isDefault && certificateSha256.length === 0;
      const knownCertificates = { path, appliance, ...(isOptional && { isOptional }) };
      return { ...http, tls: { ...withoutCa, certificateSha256, knownCertificates } };
    };
  };
}

const WEAK_KEY = "the key or the certificate is too weak, and insecure_legacy_tls is not set";

/** Whether OpenSSL accepts the client certificate and its key at the security level of these settings. */
function isStrongEnough({
  cert,
  key,
  ...tls
}: Pick<TlsClientConfig, "cert" | "key" | "minVersion" | "insecureLegacyTls">) {
  return cert === undefined || key === undefined || areAccepted(cert, key.reveal(), tlsStrength(tls));
}

function basicAuthOf(auth: NonNullable<HttpClientSettings["basic_auth"]>, file: YamlFile): BasicAuthConfig {
  const { username, password = "", password_file: name } = auth;
  if (name === undefined) return { username, password: { kind: "inline", secret: new Secret(password) } };
  return { username, password: { kind: "file", path: resolveFrom(file, name) } };
}

/** The HTTP client settings without any configuration: no credentials, and the authorities of Node.js. */
export const NO_SETTINGS: HttpClientConfig = { tls: { insecureSkipVerify: false, certificateSha256: [] } };

const standaloneSchema = z.strictObject({
  http_client: httpClientSchema.refine((http) => http.tls_config?.known_certificates_file === undefined, {
    error: "known_certificates_file has certificates of appliances only; use certificate_sha256",
  }),
});

/** Loads a file that contains only `http_client`, and the files that it names. */
export function loadHttpClient(path: string): Promise<Loaded<{ readonly http: HttpClientConfig }>> {
  return collect(async (collector) => {
    const place = await loadYaml(path, standaloneSchema, collector);
    const httpOf = place && (await createHttpResolver(createNamedFiles(collector))([place]));
    return httpOf && { http: httpOf("") };
  });
}
