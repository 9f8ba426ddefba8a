import { z } from "zod";
import { CIPHER_SUITES, CLIENT_AUTH, CURVES, TLS_VERSIONS } from "./go-names.ts";
import { goDuration, headerValue, named, secretText, setting, text, truth } from "./values.ts";

const tls = z.strictObject({
  cert: setting(secretText),
  key: setting(secretText),
  client_ca: setting(secretText),
  cert_file: setting(text),
  key_file: setting(text),
  client_ca_file: setting(text),
  client_auth_type: setting(named(CLIENT_AUTH)),
  client_allowed_sans: setting(z.array(text)),
  min_version: setting(named(TLS_VERSIONS)),
  max_version: setting(named(TLS_VERSIONS)),
  cipher_suites: setting(z.array(named(CIPHER_SUITES))),
  curve_preferences: setting(z.array(named(CURVES))),
  prefer_server_cipher_suites: setting(truth),
});

const headers = z.strictObject({
  "Content-Security-Policy": setting(headerValue),
  "Strict-Transport-Security": setting(headerValue),
  "X-Content-Type-Options": setting(z.enum(["nosniff"])),
  "X-Frame-Options": setting(z.enum(["deny", "sameorigin"])),
  "X-XSS-Protection": setting(headerValue),
});

/** The web configuration, file names not yet followed. @see Prometheus exporter-toolkit, web configuration */
export const webConfigSchema = z.strictObject({
  tls_server_config: setting(tls),
  // Their values are judged apart, so that no error shows anything of them.
  basic_auth_users: setting(z.record(z.string(), z.unknown())),
  http_server_config: setting(z.strictObject({ http2: setting(truth), headers: setting(headers) })),
  rate_limit: setting(
    z.strictObject({ interval: setting(goDuration), burst: setting(z.int().min(0).max(1_000_000_000)) }),
  ),
});

export type WebSettings = z.infer<typeof webConfigSchema>;
export type TlsServerSettings = z.infer<typeof tls>;
