import type { BasicAuthConfig, ConfigError, HttpClientConfig, TlsClientConfig } from "../config.ts";
import { createFingerprinter } from "./fingerprint.ts";
import { checkKeyPair } from "./pem-file.ts";
import { resolveFrom } from "./referenced-files.ts";
import { innermost, type Chain, type Placed, type Scope } from "./scope.ts";
import { Secret } from "../../support/secret.ts";
import { errorAt } from "../yaml/file.ts";

export interface ResolvedHttpClient {
  readonly http: HttpClientConfig;
  readonly errors: readonly ConfigError[];
}

type TlsSettings = NonNullable<NonNullable<Scope["http"]>["tls_config"]>;

/**
 * A resolver of the `http_client` blocks along a chain: the innermost `basic_auth` as a whole, `tls_config` key by key.
 * Appliances under the same blocks share one result. `pems` are the texts of the files.
 */
export function createHttpClientResolver(
  pems: ReadonlyMap<string, string>,
): (chain: Chain) => ResolvedHttpClient {
  const known = new Map<string, ResolvedHttpClient>();
  const fingerprintOf = createFingerprinter();
  const resolve = (blocks: Chain): ResolvedHttpClient => {
    const settings = resolveSettings(blocks, pems);
    const http = { ...settings, fingerprint: fingerprintOf(settings) };
    return { http, errors: checkPair(blocks, settings.tls) };
  };
  return (chain) => {
    const blocks = chain.filter(({ http }) => http === undefined || Object.keys(http).length > 0);
    const key = JSON.stringify(blocks.map(({ file, path }) => [file.file, path]));
    const resolved = known.get(key) ?? resolve(blocks);
    known.set(key, resolved);
    return resolved;
  };
}

function resolveSettings(
  chain: Chain,
  pems: ReadonlyMap<string, string>,
): Omit<HttpClientConfig, "fingerprint"> {
  return {
    basicAuth: resolveBasicAuth(chain),
    tls: resolveTls(chain, pems),
    proxy: innermost(chain, ({ http }) => http?.proxy_url)?.value,
  };
}

function resolveBasicAuth(chain: Chain): BasicAuthConfig | undefined {
  const auth = innermost(chain, ({ http }) => http?.basic_auth);
  if (!auth) return undefined;
  const { username, password, password_file: file } = auth.value;
  return file === undefined
    ? { username, password: { kind: "inline", secret: new Secret(password ?? "") } }
    : { username, password: { kind: "file", path: resolveFrom(auth.scope.file, file) } };
}

function resolveTls(chain: Chain, pems: ReadonlyMap<string, string>): TlsClientConfig {
  const pem = (key: "ca_file" | "cert_file" | "key_file") => {
    const file = tlsSetting(chain, key);
    return file && pems.get(`${key} ${resolveFrom(file.scope.file, file.value)}`);
  };
  const key = pem("key_file");
  return {
    ca: pem("ca_file"),
    cert: pem("cert_file"),
    key: key === undefined ? undefined : new Secret(key),
    serverName: tlsSetting(chain, "server_name")?.value,
    minVersion: tlsSetting(chain, "min_version")?.value,
    insecureSkipVerify: tlsSetting(chain, "insecure_skip_verify")?.value ?? false,
    certificateSha256: tlsSetting(chain, "certificate_sha256")?.value ?? [],
  };
}

function tlsSetting<K extends keyof TlsSettings>(
  chain: Chain,
  key: K,
): Placed<NonNullable<TlsSettings[K]>> | undefined {
  return innermost(chain, ({ http }) => http?.tls_config?.[key] ?? undefined);
}

/** A client certificate and its key stand together and belong together. */
function checkPair(chain: Chain, { cert, key }: TlsClientConfig): readonly ConfigError[] {
  // A block that does not fit is reported, and may hold the very file that is missing.
  if (chain.some(({ http }) => http === undefined)) return [];
  const certFile = tlsSetting(chain, "cert_file");
  const keyFile = tlsSetting(chain, "key_file");
  if (certFile && !keyFile) return [pairError(certFile, "cert_file", "expected key_file beside it")];
  if (keyFile && !certFile) return [pairError(keyFile, "key_file", "expected cert_file beside it")];
  // A file that is missing or unfit is reported where it is named.
  if (!keyFile || cert === undefined || key === undefined) return [];
  const message = checkKeyPair(cert, key.reveal());
  return message === undefined ? [] : [pairError(keyFile, "key_file", message)];
}

function pairError({ scope }: Placed<string>, key: string, message: string): ConfigError {
  return errorAt(scope.file, [...scope.path, "http_client", "tls_config", key], message);
}
