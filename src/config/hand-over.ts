import { createHash } from "node:crypto";
import { once } from "../support/once.ts";
import { Secret } from "../support/secret.ts";
import type { ApplianceConfig, HttpClientConfig, PasswordSource } from "./config.ts";

// Between threads everything is copied: an instance of Secret arrives as an empty object, and a text that thousands of
// appliances share would arrive thousands of times. So secrets and PEM texts cross once, in a list of texts.

/** An appliance whose secrets and PEM texts are places in a list of texts. */
export type PackedAppliance = ApplianceConfig<number, number>;

/** Packs appliances; `texts` grows by what they refer to. */
export function createPacker(texts: string[]): (appliance: ApplianceConfig) => PackedAppliance {
  const places = new Map<string, number>();
  const placeOf = (text: string): number => {
    const place = places.get(text) ?? texts.push(text) - 1;
    places.set(text, place);
    return place;
  };
  const pack = once((http: HttpClientConfig) =>
    withTexts(http, (secret) => placeOf(secret.reveal()), placeOf),
  );
  return (appliance) => ({ ...appliance, http: pack(appliance.http) });
}

/** Unpacks appliances that refer to these texts. */
export function createUnpacker(texts: readonly string[]): (packed: PackedAppliance) => ApplianceConfig {
  const textAt = (place: number): string => texts[place] ?? "";
  const unpack = once((http: HttpClientConfig<number, number>) =>
    withTexts(http, (place) => new Secret(textAt(place)), textAt),
  );
  return (packed) => ({ ...packed, http: unpack(packed.http) });
}

function withTexts<S, P, ToS, ToP>(
  { basicAuth, tls, proxy, fingerprint }: HttpClientConfig<S, P>,
  secret: (secret: S) => ToS,
  pem: (pem: P) => ToP,
): HttpClientConfig<ToS, ToP> {
  const inline = (password: PasswordSource<S>): PasswordSource<ToS> =>
    password.kind === "inline" ? { ...password, secret: secret(password.secret) } : password;
  return {
    basicAuth: basicAuth && { ...basicAuth, password: inline(basicAuth.password) },
    tls: { ...tls, ca: given(tls.ca, pem), cert: given(tls.cert, pem), key: given(tls.key, secret) },
    proxy: proxy && { ...proxy, credentials: given(proxy.credentials, secret) },
    fingerprint,
  };
}

function given<From, To>(value: From | undefined, to: (value: From) => To): To | undefined {
  return value === undefined ? undefined : to(value);
}

/** Equal for equal settings of an appliance; the fingerprint represents secrets. */
export function digestOf({ http, ...settings }: ApplianceConfig): string {
  return createHash("sha256")
    .update(JSON.stringify([settings, http.fingerprint]))
    .digest("base64");
}
