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
  /** At the first of the keys that is there, else at the block. */
  const refuse = (keys: readonly Key[], message: string): TlsResult => {
    const given = keys.filter((key) => settings[key] !== undefined).slice(0, 1);
    return { ok: false, errors: [errorAt(file, ["tls_server_config", ...given], message)] };
  };
  const { cert, key } = pems;
  if (cert === undefined) return refuse([...KEY, ...CLIENTS], "expected one of cert and cert_file beside it");
  if (key === undefined) return refuse(CERT, "expected one of key and key_file beside it");
  const tls = toTlsSettings(settings, pems, { cert, key });
  const contradiction = findContradiction(settings, tls);
  if (contradiction !== undefined) return refuse([contradiction.at], contradiction.message);
  if (checkKeyPair(cert, key) !== undefined) {
    return refuse(KEY, "the key does not belong to the certificate, or TLS refuses the two");
  }
  return isUsable(tls) ? { ok: true, tls } : refuse([], "TLS refuses this combination of settings");
}

type Key = keyof TlsServerSettings;
const CERT: readonly Key[] = ["cert", "cert_file"];
const KEY: readonly Key[] = ["key", "key_file"];
const CLIENTS: readonly Key[] = ["client_ca", "client_ca_file", "client_auth_type"];

/** As in Prometheus's exporters, versions and ciphers alone ask for no TLS. */
function isEnabled(settings: TlsServerSettings): boolean {
  return [...CERT, ...KEY, ...CLIENTS].some((key) => settings[key] !== undefined);
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
    cipherSuites: distinct(settings.cipher_suites),
    curves: distinct(settings.curve_preferences),
    preferServerCipherSuites: settings.prefer_server_cipher_suites ?? true,
  };
}

function distinct(list: readonly string[] | undefined): readonly string[] | undefined {
  // TLS refuses a curve that is named twice.
  return list === undefined || list.length === 0 ? undefined : [...new Set(list)];
}

/** The key at fault, and why. */
function findContradiction(
  settings: TlsServerSettings,
  { clientCa, clientAuth, clientAllowedSans, minVersion, maxVersion }: TlsSettings,
): { readonly at: Key; readonly message: string } | undefined {
  if (clientCa !== undefined && clientAuth === "NoClientCert") {
    const at = settings.client_ca === undefined ? "client_ca_file" : "client_ca";
    return { at, message: "needs a client_auth_type other than NoClientCert" };
  }
  const isRequired = clientAuth === "RequireAnyClientCert" || clientAuth === "RequireAndVerifyClientCert";
  if (clientAllowedSans !== undefined && !isRequired) {
    const message = "needs the client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert";
    return { at: "client_allowed_sans", message };
  }
  const ascending = [...TLS_VERSIONS.values()];
  if (ascending.indexOf(minVersion) <= ascending.indexOf(maxVersion)) return undefined;
  const at = settings.min_version === undefined ? "max_version" : "min_version";
  return { at, message: "min_version is above max_version" };
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
