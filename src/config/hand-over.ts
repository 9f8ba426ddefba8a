import { createHash } from "node:crypto";
import { once } from "../support/once.ts";
import { Secret } from "../support/secret.ts";
import type { ApplianceConfig, HttpClientConfig, PasswordSource } from "./config.ts";

// Between threads everything is copied, once for each message that refers to it. An instance of Secret would arrive as an
// empty object, so secrets cross as texts.

/** Converts the secrets of appliances to texts. What appliances share, they share afterwards too. */
export function createPacker(): (appliance: ApplianceConfig) => ApplianceConfig<string> {
  return createConverter((secret) => secret.reveal());
}

/** The inverse. */
export function createUnpacker(): (packed: ApplianceConfig<string>) => ApplianceConfig {
  return createConverter((text) => new Secret(text));
}

function createConverter<From, To>(
  convert: (secret: From) => To,
): (appliance: ApplianceConfig<From>) => ApplianceConfig<To> {
  const given = (secret: From | undefined) => (secret === undefined ? undefined : convert(secret));
  /** One copy of each: a list of authorities is long, and thousands of blocks may inherit it. */
  const texts = new Map<string | undefined, string | undefined>();
  const shared = (text: string | undefined) => {
    if (!texts.has(text)) texts.set(text, text);
    return texts.get(text);
  };
  const tlsOf = once((tls: HttpClientConfig<From>["tls"]) => {
    return { ...tls, ca: shared(tls.ca), cert: shared(tls.cert), key: given(tls.key) };
  });
  const passwordOf = (password: PasswordSource<From>): PasswordSource<To> =>
    password.kind === "inline" ? { ...password, secret: convert(password.secret) } : password;
  const httpOf = once(({ basicAuth, tls, proxy, fingerprint }: HttpClientConfig<From>) => ({
    basicAuth: basicAuth && { ...basicAuth, password: passwordOf(basicAuth.password) },
    tls: tlsOf(tls),
    proxy: proxy && { ...proxy, credentials: given(proxy.credentials) },
    fingerprint,
  }));
  return (appliance) => ({ ...appliance, http: httpOf(appliance.http) });
}

/** Equal for equal settings of an appliance; the fingerprint represents secrets. */
export function digestOf({ http, ...settings }: ApplianceConfig): string {
  return createHash("sha256")
    .update(JSON.stringify([settings, http.fingerprint]))
    .digest("base64");
}
