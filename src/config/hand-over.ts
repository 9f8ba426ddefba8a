import { createHash } from "node:crypto";
import { once } from "../support/once.ts";
import { Secret } from "../support/secret.ts";
import type { ApplianceConfig, HttpClientConfig, PasswordSource } from "./config.ts";

// Between threads everything is copied, and an instance of Secret arrives as an empty object.

/** The appliance with its secrets as text. Appliances that share HTTP settings share the copy too. */
export function reveal(appliance: ApplianceConfig): ApplianceConfig<string> {
  return { ...appliance, http: revealHttp(appliance.http) };
}

/** The appliance as it was before `reveal`. */
export function conceal(appliance: ApplianceConfig<string>): ApplianceConfig {
  return { ...appliance, http: concealHttp(appliance.http) };
}

const revealHttp = once((http: HttpClientConfig) => withSecrets(http, (secret) => secret.reveal()));
const concealHttp = once((http: HttpClientConfig<string>) => withSecrets(http, (text) => new Secret(text)));

function withSecrets<From, To>(
  { basicAuth, tls, proxy, fingerprint }: HttpClientConfig<From>,
  as: (secret: From) => To,
): HttpClientConfig<To> {
  const optional = (secret: From | undefined) => (secret === undefined ? undefined : as(secret));
  const inline = (password: PasswordSource<From>): PasswordSource<To> =>
    password.kind === "inline" ? { ...password, secret: as(password.secret) } : password;
  return {
    basicAuth: basicAuth && { ...basicAuth, password: inline(basicAuth.password) },
    tls: { ...tls, key: optional(tls.key) },
    proxy: proxy && { ...proxy, credentials: optional(proxy.credentials) },
    fingerprint,
  };
}

/** Equal for equal settings of an appliance; the fingerprint represents secrets. */
export function digestOf({ http, ...settings }: ApplianceConfig): string {
  return createHash("sha256")
    .update(JSON.stringify([settings, http.fingerprint]))
    .digest("base64");
}
