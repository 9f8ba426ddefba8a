import { createSecureContext } from "node:tls";
import type { ConfigError } from "../config/config.ts";
import { checkKeyPair } from "../config/resolve/pem-file.ts";
import { Secret } from "../config/secret.ts";
import { errorAt, type YamlFile } from "../config/yaml/file.ts";
import { TLS_VERSIONS } from "./go-names.ts";
import type { PemSources } from "./pem-sources.ts";
import type { TlsServerSettings } from "./schema.ts";
import { toSecureContextOptions } from "./secure-context.ts";
import type { TlsSettings } from "./web-config.ts";

export type TlsResult =
  | { readonly ok: true; readonly tls: TlsSettings | undefined }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** What the TLS block asks for; `undefined` where it asks for no TLS. Its PEM sources were sound. */
export function resolveTls(
  file: YamlFile,
  settings: TlsServerSettings | undefined,
  pems: PemSources,
): TlsResult {
  if (settings === undefined || !isEnabled(settings)) return { ok: true, tls: undefined };
  const refuse = (keys: readonly string[], message: string): TlsResult => ({
    ok: false,
    errors: [errorAt(file, ["tls_server_config", ...keys], message)],
  });
  const { cert, key } = pems;
  if (cert === undefined) return refuse([], "expected one of cert and cert_file");
  if (key === undefined) return refuse([], "expected one of key and key_file");
  const tls = toTlsSettings(settings, pems, { cert, key });
  const [at, message] = findContradiction(settings, tls) ?? [];
  if (message !== undefined) return refuse(at === undefined ? [] : [at], message);
  if (checkKeyPair(cert, key) !== undefined) {
    return refuse([], "the key does not belong to the certificate, or TLS refuses the two");
  }
  return isUsable(tls) ? { ok: true, tls } : refuse([], "TLS refuses this combination of settings");
}

/** As in Prometheus's exporters, versions and ciphers alone ask for no TLS. */
function isEnabled(settings: TlsServerSettings): boolean {
  const { cert, cert_file, key, key_file, client_ca, client_ca_file, client_auth_type } = settings;
  return [cert, cert_file, key, key_file, client_ca, client_ca_file, client_auth_type].some(
    (value) => value !== undefined,
  );
}

function toTlsSettings(
  settings: TlsServerSettings,
  { clientCa }: PemSources,
  { cert, key }: { readonly cert: string; readonly key: string },
): TlsSettings {
  return {
    cert,
    key: new Secret(key),
    clientCa,
    clientAuth: settings.client_auth_type ?? "NoClientCert",
    clientAllowedSans: settings.client_allowed_sans,
    minVersion: settings.min_version ?? "TLSv1.2",
    maxVersion: settings.max_version ?? "TLSv1.3",
    cipherSuites: nonEmpty(settings.cipher_suites),
    curves: nonEmpty(settings.curve_preferences),
    preferServerCipherSuites: settings.prefer_server_cipher_suites ?? true,
  };
}

function nonEmpty(list: readonly string[] | undefined): readonly string[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** The key at fault, and why. */
function findContradiction(
  settings: TlsServerSettings,
  { clientCa, clientAuth, clientAllowedSans, minVersion, maxVersion }: TlsSettings,
): readonly [string, string] | undefined {
  if (clientCa !== undefined && clientAuth === "NoClientCert") {
    const at = settings.client_ca === undefined ? "client_ca_file" : "client_ca";
    return [at, "needs a client_auth_type other than NoClientCert"];
  }
  const isRequired = clientAuth === "RequireAnyClientCert" || clientAuth === "RequireAndVerifyClientCert";
  if (clientAllowedSans !== undefined && !isRequired) {
    return [
      "client_allowed_sans",
      "needs the client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert",
    ];
  }
  const ascending = [...TLS_VERSIONS.values()];
  return ascending.indexOf(minVersion) > ascending.indexOf(maxVersion)
    ? [settings.min_version === undefined ? "max_version" : "min_version", "min_version is above max_version"]
    : undefined;
}

/** The library's own messages could quote a key. */
function isUsable(tls: TlsSettings): boolean {
  try {
    createSecureContext(toSecureContextOptions(tls));
    return true;
  } catch {
    return false;
  }
}
