import { z } from "zod";
import { TLS_VERSIONS } from "../tls-versions.ts";
import { isMap, parsed } from "./values.ts";
import { parseProxyUrl } from "./url-setting.ts";
import { listOf } from "../yaml/collections.ts";
import { expected } from "../yaml/wording.ts";

const MAX_PINS = 100;

const fileSchema = z.string().min(1, "expected the path of a file");

/** Secrets are worded with no value: RFC 7617 forbids control characters in both, and a colon in the name. */
const basicAuthSchema = z
  .strictObject({
    username: z
      .string()
      .regex(
        /^[^:\p{Cc}]+$/u,
        "expected a user name that is not empty and has no colon and no control character",
      ),
    password: z
      .string()
      .regex(/^\P{Cc}+$/u, "expected a password that is not empty and has no control character")
      .meta({ description: "Inline; a password_file is better." })
      .optional(),
    password_file: fileSchema
      .meta({ description: "A file that holds the password; it is read again when it changes." })
      .optional(),
  })
  .refine((auth) => !("password" in auth && "password_file" in auth), {
    path: ["password_file"],
    error: "expected either password or password_file, got both",
    when: isMap,
  })
  .refine((auth) => "password" in auth || "password_file" in auth, {
    error: "expected either password or password_file, got none",
    when: isMap,
  })
  .meta({
    description: "Credentials of HTTP Basic authentication; an inner block replaces an outer one as a whole.",
  });

const pinSchema = parsed(
  z.string({ error: expected("a SHA-256 fingerprint of 64 hexadecimal digits") }),
  (text) => {
    const digits = text.replaceAll(":", "").toLowerCase();
    if (/^[0-9a-f]{64}$/.test(digits)) return { ok: true, value: digits };
    return { ok: false, message: "expected a SHA-256 fingerprint of 64 hexadecimal digits" };
  },
);

const tlsConfigSchema = z
  .strictObject({
    ca_file: fileSchema
      .meta({
        description: "Certificates of the authorities to trust, PEM; default: those that Node brings.",
      })
      .optional(),
    cert_file: fileSchema.meta({ description: "The client certificate, PEM; needs key_file." }).optional(),
    key_file: fileSchema
      .meta({ description: "The client certificate's key, PEM; needs cert_file." })
      .optional(),
    server_name: z
      .string({ error: expected("a host name") })
      .regex(/^[\w.:-]{1,253}$/, "expected a host name")
      .meta({ description: "The name the certificate must be for; default: the host of base_url." })
      .optional(),
    min_version: z
      .enum(["TLS10", "TLS11", "TLS12", "TLS13"], { error: expected("TLS10, TLS11, TLS12 or TLS13") })
      .transform((version) => TLS_VERSIONS[version])
      .meta({ description: "The oldest version of TLS to accept." })
      .optional(),
    insecure_skip_verify: z
      .boolean()
      .meta({ description: "Accept any certificate; default: false." })
      .optional(),
    certificate_sha256: listOf(pinSchema, {
      max: MAX_PINS,
      description: "SHA-256 fingerprints: the presented certificate must be one of these.",
    }).optional(),
  })
  .meta({ description: "TLS towards the appliance; an inner block overrides an outer one key by key." });

const proxyUrlSchema = parsed(z.string(), parseProxyUrl).meta({
  description: "http://[user:password@]host:port: appliances are reached through this proxy.",
});

export const httpClientSchema = z
  .strictObject({
    basic_auth: basicAuthSchema.optional(),
    tls_config: tlsConfigSchema.optional(),
    proxy_url: proxyUrlSchema.optional(),
  })
  .meta({ id: "http_client", description: "How appliances are reached; inner blocks override outer ones." });

/** The same for the known keys alone; an unknown one, reported otherwise, says nothing about them. */
export const knownHttpClientSchema = z.object({
  ...httpClientSchema.shape,
  tls_config: z.object(tlsConfigSchema.shape).optional(),
});
