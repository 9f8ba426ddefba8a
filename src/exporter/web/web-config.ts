import { z } from "zod";
import { collect, type Loaded, type LoadOptions } from "../config/sources.ts";
import { createNamedFiles } from "../config/named-files.ts";
import { tlsVersionSchema } from "../config/schema.ts";
import { loadYaml } from "../config/validate.ts";
import { fileSchema, parsed, textOrNumber } from "../config/values.ts";
import { Secret } from "../../support/secret.ts";

export interface WebConfig {
  /** The settings of TLS; `undefined` means plain HTTP. */
  readonly tls: TlsSettings | undefined;
  /** The bcrypt hashes by user name; if there are none, no password is required. */
  readonly users: ReadonlyMap<string, Secret>;
  /** The users who may change planned work; `undefined` means all. */
  readonly maintenanceUsers: ReadonlySet<string> | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The settings of TLS. Certificates and keys are PEM texts. */
export interface TlsSettings extends z.output<typeof tlsSchema> {
  readonly cert: string;
  readonly key: Secret;
  /** The authorities that sign client certificates; given if these are verified. */
  readonly clientCa: string | undefined;
}

/** The server's treatment of client certificates. @see Go, crypto/tls, ClientAuthType */
const clientAuthSchema = z.enum([
  "NoClientCert",
  "RequestClientCert",
  "RequireAnyClientCert",
  // RequireAnyClientCert has this older name.
  "RequireClientCert",
  "VerifyClientCertIfGiven",
  "RequireAndVerifyClientCert",
]);

/** Whether client certificates have to be signed by the authorities in `client_ca_file`. */
export function verifiesClients(type: z.output<typeof clientAuthSchema>): boolean {
  return type === "VerifyClientCertIfGiven" || type === "RequireAndVerifyClientCert";
}

/** A key of the exporter-toolkit's format that this exporter lacks. */
const unsupported = z.undefined({ error: "not supported by this exporter" }).optional();

const tlsSchema = z
  .strictObject({
    cert_file: fileSchema,
    key_file: fileSchema,
    client_ca_file: fileSchema.optional(),
    client_auth_type: clientAuthSchema.default("NoClientCert"),
    min_version: tlsVersionSchema.default("TLSv1.2"),
    cert: unsupported,
    key: unsupported,
    client_ca: unsupported,
    client_allowed_sans: unsupported,
    max_version: unsupported,
    cipher_suites: unsupported,
    curve_preferences: unsupported,
    prefer_server_cipher_suites: unsupported,
  })
  .refine((tls) => tls.client_ca_file === undefined || tls.client_auth_type !== "NoClientCert", {
    path: ["client_ca_file"],
    error: "needs a client_auth_type other than NoClientCert",
  })
  // Without this list, anyone with a certificate of a public authority would be among the clients, and might change planned work.
  .refine((tls) => tls.client_ca_file !== undefined || !verifiesClients(tls.client_auth_type), {
    path: ["client_auth_type"],
    error: "needs client_ca_file, the authorities of client certificates",
  })
  .transform((tls) => ({ clientAuth: tls.client_auth_type, minVersion: tls.min_version }));

/**
 * A value of a header. Numbers are accepted, because YAML parses the `0` of X-XSS-Protection as one. Lines are joined. @see RFC 9110, 5.5
 */
const headerSchema = parsed(
  "a valid HTTP header value",
  (given) => {
    const line = given.trim().replaceAll(/[\r\n]+/g, " ");
    return /^[\t\x20-\x7e\x80-\xff]*$/.test(line) ? line : undefined;
  },
  textOrNumber,
);

const HASH_ERROR = "expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$";

/** @see Prometheus exporter-toolkit, web configuration */
const webConfigSchema = z.strictObject({
  tls_server_config: tlsSchema.optional(),
  basic_auth_users: z
    .record(
      z.string(),
      z
        .string({ error: HASH_ERROR })
        .trim()
        .regex(/^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/, HASH_ERROR)
        .transform((hash) => new Secret(hash)),
    )
    .default({}),
  maintenance_users: z.array(z.string()).optional(),
  http_server_config: z
    .strictObject({
      // This key is accepted because many files have it; the server supports HTTP/1.1 only.
      http2: z.boolean().optional(),
      headers: z
        .strictObject({
          "Content-Security-Policy": headerSchema.optional(),
          "Strict-Transport-Security": headerSchema.optional(),
          "X-Content-Type-Options": z.enum(["nosniff"]).optional(),
          "X-Frame-Options": z.enum(["deny", "sameorigin"]).optional(),
          "X-XSS-Protection": headerSchema.optional(),
        })
        .default({}),
    })
    .prefault({}),
  rate_limit: unsupported,
});

export const UNPROTECTED: WebConfig = {
  tls: undefined,
  users: new Map(),
  maintenanceUsers: undefined,
  headers: {},
};

/**
 * Loads a web configuration, if there is one, and the files that it names, or returns the errors, starting with those of the schema. An
 * empty file is an error, since a half-written file must not open the pages to everyone.
 */
export function loadWebConfig(
  path?: string,
  options: LoadOptions = {},
): Promise<Loaded<{ readonly config: WebConfig }>> {
  return collect(async (collector) => {
    if (path === undefined) return { config: UNPROTECTED };
    const loaded = await loadYaml(path, webConfigSchema, collector);
    if (loaded === undefined) return undefined;
    const { tls_server_config: tls, basic_auth_users: users, http_server_config: http } = loaded.settings;
    const { maintenance_users: maintainers } = loaded.settings;
    // Without passwords, users are the common names of client certificates.
    const isKnown = (user: string) => Object.hasOwn(users, user) || Object.keys(users).length === 0;
    for (const [nth, user] of (maintainers ?? []).entries())
      if (!isKnown(user)) loaded.file.report(["maintenance_users", nth], "no such user in basic_auth_users");
    const files = createNamedFiles(collector);
    const { cert = "", key = "" } = await files.readKeyPair(loaded, "tls_server_config");
    const clientCa = await files.read("certificates", loaded, "tls_server_config", "client_ca_file");
    const config: WebConfig = {
      tls: tls && { ...tls, cert, key: new Secret(key), clientCa },
      users: new Map(Object.entries(users)),
      maintenanceUsers: maintainers && new Set(maintainers),
      headers: http.headers,
    };
    return { config };
  }, options);
}
