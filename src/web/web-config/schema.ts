import { z } from "zod";
import { listOf, mapOf } from "../../config/yaml/collections.ts";
import { CIPHER_SUITES, CLIENT_AUTH, CURVES, TLS_VERSIONS } from "./go-names.ts";
import {
  count,
  goDuration,
  headerValue,
  named,
  secretText,
  setting,
  text,
  textSetting,
  truth,
} from "./values.ts";

/** Its file names not yet followed. */
export const tlsSchema = z.strictObject({
  cert: textSetting(secretText),
  key: textSetting(secretText),
  client_ca: textSetting(secretText),
  cert_file: textSetting(text),
  key_file: textSetting(text),
  client_ca_file: textSetting(text),
  client_auth_type: textSetting(named(CLIENT_AUTH)),
  client_allowed_sans: setting(listOf(text)),
  min_version: setting(named(TLS_VERSIONS)),
  max_version: setting(named(TLS_VERSIONS)),
  cipher_suites: setting(listOf(named(CIPHER_SUITES))),
  curve_preferences: setting(listOf(named(CURVES))),
  prefer_server_cipher_suites: setting(truth),
});

const headers = z.strictObject({
  "Content-Security-Policy": textSetting(headerValue),
  "Strict-Transport-Security": textSetting(headerValue),
  "X-Content-Type-Options": z.enum(["nosniff"]).optional(),
  "X-Frame-Options": z.enum(["deny", "sameorigin"]).optional(),
  "X-XSS-Protection": textSetting(headerValue),
});

/** `interval`: in milliseconds. */
export const rateLimitSchema = z.strictObject({ interval: setting(goDuration), burst: setting(count) });

/** The web configuration, file names not yet followed. @see Prometheus exporter-toolkit, web configuration */
export const webConfigSchema = z.strictObject({
  tls_server_config: setting(tlsSchema),
  // Their values are judged apart, so that no error shows anything of them.
  basic_auth_users: setting(mapOf(z.string(), z.unknown())),
  http_server_config: setting(z.strictObject({ http2: setting(truth), headers: setting(headers) })),
  rate_limit: setting(rateLimitSchema),
});

export type TlsServerSettings = z.infer<typeof tlsSchema>;
