import { createSecureContext } from "node:tls";
import type { ConfigError } from "../../config/config.ts";
import { checkKeyPair } from "../../config/resolve/pem-file.ts";
import { Secret } from "../../support/secret.ts";
import { errorAt, type YamlFile } from "../../config/yaml/file.ts";
import { readFitting, type Fitting } from "../../config/yaml/fitting.ts";
import { valueAt } from "../../config/yaml/validate.ts";
import { TLS_VERSIONS } from "./go-names.ts";
import type { PemSources } from "./pem-sources.ts";
import { tlsSchema, type TlsServerSettings } from "./schema.ts";
import { toSecureContextOptions } from "./secure-context.ts";
import type { TlsSettings } from "./web-config.ts";

export interface TlsReading {
  /** `undefined` where no TLS is asked for, and where something is wrong with it. */
  readonly tls: TlsSettings | undefined;
  /** Those that the validation of the file and the reading of the PEM texts do not tell of. */
  readonly errors: readonly ConfigError[];
}

/** What the TLS block asks for. A setting or a PEM text that does not fit hides only what depends on it. */
export function resolveTls(file: YamlFile, pems: PemSources): TlsReading {
  const block = readFitting(tlsSchema, valueAt(file.data, ["tls_server_config"]) ?? {});
  if (!isGiven(block, [...CERT, ...KEY, ...CLIENTS])) return { tls: undefined, errors: [] };
  const { cert, key } = pems;
  const tls = toTlsSettings(block.settings ?? {}, pems, { cert: cert ?? "", key: key ?? "" });
  const refusals = [
    ...findMissing(block),
    ...findContradictions(block, tls),
    ...(cert === undefined || key === undefined ? [] : findMismatch(cert, key)),
  ];
  const isJudged = refusals.length === 0 && pems.errors.length === 0 && block.unfit.size === 0;
  if (isJudged && !isUsable(tls))
    refusals.push({ at: [], message: "TLS refuses this combination of settings" });
  const errors = refusals.map(({ at, message }) => {
    // At the first of the keys that is there, else at the block.
    const given = at.filter((each) => isGiven(block, [each])).slice(0, 1);
    return errorAt(file, ["tls_server_config", ...given], message);
  });
  return { tls: isJudged && errors.length === 0 ? tls : undefined, errors };
}

type Block = Fitting<TlsServerSettings>;
interface Refusal {
  /** The keys that are to blame, the first that is there. */
  readonly at: readonly Key[];
  readonly message: string;
}

type Key = keyof TlsServerSettings;
const CERT: readonly Key[] = ["cert", "cert_file"];
const KEY: readonly Key[] = ["key", "key_file"];
const CLIENT_CA: readonly Key[] = ["client_ca", "client_ca_file"];
const CLIENTS: readonly Key[] = [...CLIENT_CA, "client_auth_type"];

/** Whether one of them stands there. As in Prometheus's exporters, versions and ciphers alone ask for no TLS. */
function isGiven({ settings, unfit }: Block, keys: readonly Key[]): boolean {
  return keys.some((key) => settings?.[key] !== undefined || unfit.has(key));
}

function findMissing(block: Block): readonly Refusal[] {
  const refusals: Refusal[] = [];
  if (!isGiven(block, CERT)) {
    refusals.push({ at: [...KEY, ...CLIENTS], message: "expected one of cert and cert_file beside it" });
  }
  if (!isGiven(block, KEY)) {
    refusals.push({ at: [...CERT, ...CLIENTS], message: "expected one of key and key_file beside it" });
  }
  return refusals;
}

function findMismatch(cert: string, key: string): readonly Refusal[] {
  const message = "the key does not belong to the certificate, or TLS refuses the two";
  return checkKeyPair(cert, key) === undefined ? [] : [{ at: KEY, message }];
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

function findContradictions(
  block: Block,
  { clientAuth, clientAllowedSans, minVersion, maxVersion }: TlsSettings,
): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const isAuthKnown = !block.unfit.has("client_auth_type");
  if (isAuthKnown && clientAuth === "NoClientCert" && isGiven(block, CLIENT_CA)) {
    refusals.push({ at: CLIENT_CA, message: "needs a client_auth_type other than NoClientCert" });
  }
  const isRequired = clientAuth === "RequireAnyClientCert" || clientAuth === "RequireAndVerifyClientCert";
  if (isAuthKnown && !isRequired && clientAllowedSans !== undefined) {
    const message = "needs the client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert";
    refusals.push({ at: ["client_allowed_sans"], message });
  }
  const areVersionsKnown = !block.unfit.has("min_version") && !block.unfit.has("max_version");
  const ascending = [...TLS_VERSIONS.values()];
  if (areVersionsKnown && ascending.indexOf(minVersion) > ascending.indexOf(maxVersion)) {
    refusals.push({ at: ["min_version", "max_version"], message: "min_version is above max_version" });
  }
  return refusals;
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
