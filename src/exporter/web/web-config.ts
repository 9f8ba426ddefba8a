import { z } from "zod";
import { collect, type Loaded, type LoadOptions } from "../config/sources.ts";
import { createNamedFiles } from "../config/named-files.ts";
import { tlsVersionSchema } from "../config/schema.ts";
import { loadYaml } from "../config/validate.ts";
import { fileSchema, parsed } from "../config/values.ts";
import { Secret } from "../../support/secret.ts";
import { listed } from "../../support/text.ts";
import {
  isGoCipher,
  isGoCurve,
  translateCiphers,
  translateCurves,
  type GoCipher,
  type Translation,
} from "./go-tls.ts";

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
export interface TlsSettings extends Omit<z.output<typeof tlsSchema>, "ciphers" | "curves"> {
  readonly cert: string;
  readonly key: Secret;
  /** The authorities that sign client certificates. Without them, no client certificate is verified. */
  readonly clientCa: string | undefined;
  /** OpenSSL's names of the cipher suites below TLS 1.3, in their order; `undefined` means the default ones. */
  readonly ciphers: readonly string[] | undefined;
  /** OpenSSL's names of the curves, in their order; `undefined` means the default ones. */
  readonly curves: readonly string[] | undefined;
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

const VERSIONS = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

/** A text that is not such a name may be a secret, so no error shows it. */
const LIKE_GO = /^(?:TLS_|Curve|X\d|Sec)\w{1,60}$/;

/** Returns a schema for a list of names of Go. */
function goNames<Name extends string>(what: string, isKnown: (name: string) => name is Name) {
  return z.array(z.string()).transform((names, context): readonly Name[] => {
    for (const [nth, name] of names.entries()) {
      const got = LIKE_GO.test(name) ? `, got ${name}` : "";
      if (!isKnown(name))
        context.addIssue({ code: "custom", path: [nth], message: `expected ${what} of Go${got}` });
    }
    return names.filter((name) => isKnown(name));
  });
}

const tlsSchema = z
  .strictObject({
    cert: z.string().optional(),
    key: z.string().optional(),
    client_ca: z.string().optional(),
    cert_file: fileSchema.optional(),
    key_file: fileSchema.optional(),
    client_ca_file: fileSchema.optional(),
    client_auth_type: clientAuthSchema.default("NoClientCert"),
    client_allowed_sans: z.array(z.string()).optional(),
    min_version: tlsVersionSchema.default("TLSv1.2"),
    max_version: tlsVersionSchema.default("TLSv1.3"),
    cipher_suites: goNames("the name of a cipher suite", isGoCipher).default([]),
    curve_preferences: goNames("the name of a curve", isGoCurve).default([]),
    prefer_server_cipher_suites: z.boolean().default(true),
  })
  .superRefine((tls, context) => {
    const fail = (key: keyof typeof tls, message: string): void =>
      context.addIssue({ code: "custom", path: [key], message });
    for (const key of ["cert", "key"] as const) {
      const isInline = tls[key] !== undefined;
      if (!isInline && tls[`${key}_file`] === undefined) fail(`${key}_file`, "required key is missing");
      if (isInline && tls[`${key}_file`] !== undefined)
        fail(key, `expected either ${key} or ${key}_file, got both`);
    }
    const type = tls.client_auth_type;
    const authority = (["client_ca", "client_ca_file"] as const).filter((key) => tls[key] !== undefined);
    if (authority.length > 1) fail("client_ca", "expected either client_ca or client_ca_file, got both");
    if (authority[0] !== undefined && type === "NoClientCert")
      fail(authority[0], "needs a client_auth_type other than NoClientCert");
    // With the public authorities instead, whoever has a certificate of one of them would be a client, and might change planned work.
    if (authority.length === 0 && type === "RequireAndVerifyClientCert")
      fail("client_auth_type", "needs client_ca_file, the authorities of client certificates");
    if (tls.client_allowed_sans !== undefined && !type.startsWith("Require"))
      fail(
        "client_allowed_sans",
        "needs RequireAnyClientCert or RequireAndVerifyClientCert as client_auth_type",
      );
    if (VERSIONS.indexOf(tls.max_version) < VERSIONS.indexOf(tls.min_version))
      fail("max_version", "is below min_version");
  })
  .transform((tls) => ({
    clientAuth: tls.client_auth_type,
    allowedNames: tls.client_allowed_sans,
    minVersion: tls.min_version,
    maxVersion: tls.max_version,
    prefersOwnCiphers: tls.prefer_server_cipher_suites,
    ciphers: tls.cipher_suites,
    curves: tls.curve_preferences,
  }));

/**
 * A value of a header. Numbers are accepted, because YAML parses the `0` of X-XSS-Protection as one. Lines are joined. @see RFC 9110, 5.5
 */
const headerSchema = parsed(
  "a valid HTTP header value",
  (given) => {
    const line = given.trim().replaceAll(/[\r\n]+/g, " ");
    return /^[\t\x20-\x7e\x80-\xff]*$/.test(line) ? line : undefined;
  },
  { acceptsNumbers: true },
);

const HASH_ERROR =
  "expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$: `htpasswd -nBC 12 NAME` of the package apache2-utils makes one";

/** @see Prometheus exporter-toolkit, web configuration */
export const webConfigSchema = z.strictObject({
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

const HTTP2_CIPHERS = [
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
] as const satisfies readonly GoCipher[];
const NO_HTTP2_CIPHER = `HTTP/2 needs ${HTTP2_CIPHERS.join(" or ")}: add one of them, or set http2: false`;

export const UNPROTECTED: WebConfig = {
  tls: undefined,
  users: new Map(),
  maintenanceUsers: undefined,
  headers: {},
};

/** A web configuration, and what of it has no effect. */
export interface LoadedWebConfig {
  readonly config: WebConfig;
  /** Whole sentences about settings that weaken nothing. */
  readonly warnings: readonly string[];
}

/**
 * Loads a web configuration, if there is one, and the files that it names, or returns the errors, starting with those of the schema. An
 * empty file is an error, since a half-written file must not open the pages to everyone.
 */
export function loadWebConfig(path?: string, options: LoadOptions = {}): Promise<Loaded<LoadedWebConfig>> {
  return collect(async (collector) => {
    if (path === undefined) return { config: UNPROTECTED, warnings: [] };
    const loaded = await loadYaml(path, webConfigSchema, collector);
    if (loaded === undefined) return undefined;
    const { tls_server_config: tls, basic_auth_users: users, http_server_config: http } = loaded.settings;
    const { maintenance_users: maintainers } = loaded.settings;
    // Without passwords, users are the common names of client certificates.
    const isKnown = (user: string) => Object.hasOwn(users, user) || Object.keys(users).length === 0;
    for (const [nth, user] of (maintainers ?? []).entries())
      if (!isKnown(user)) loaded.file.report(["maintenance_users", nth], "no such user in basic_auth_users");
    // Such a file is not valid for Go's servers, which serve HTTP/2 by default.
    const isForHttp2 = http.http2 !== false && tls?.minVersion !== "TLSv1.3";
    const ciphers: readonly string[] = tls?.ciphers ?? [];
    if (isForHttp2 && ciphers.length > 0 && !HTTP2_CIPHERS.some((name) => ciphers.includes(name)))
      loaded.file.report(["tls_server_config", "cipher_suites"], NO_HTTP2_CIPHER);
    const files = createNamedFiles(collector);
    const { cert = "", key = "" } = await files.readKeyPair(loaded, "tls_server_config");
    const clientCa = await files.readPem("certificates", loaded, "tls_server_config", "client_ca");
    const warnings: string[] = [];
    /** Returns the names that OpenSSL has, with a warning about others; none is an error. */
    const usable = (name: string, { known, lacking }: Translation): readonly string[] | undefined => {
      if (lacking.length === 0) return known.length === 0 ? undefined : known;
      const words = `this version of OpenSSL has no ${listed(lacking)}`;
      if (known.length === 0) loaded.file.report(["tls_server_config", name], words);
      warnings.push(`tls_server_config.${name}: ${words}: left out`);
      return known;
    };
    const isGivenOnly = tls?.clientAuth === "VerifyClientCertIfGiven" && clientCa === undefined;
    if (isGivenOnly && !collector.isSyntaxOnly)
      warnings.push(`tls_server_config.client_auth_type: ${NONE_TRUSTED}`);
    const config: WebConfig = {
      tls: tls && {
        ...tls,
        cert,
        key: new Secret(key),
        clientCa,
        ciphers:
          tls.ciphers.length === 0
            ? undefined
            : (usable("cipher_suites", translateCiphers(tls.ciphers)) ?? []),
        curves: usable("curve_preferences", translateCurves(tls.curves)),
      },
      users: new Map(Object.entries(users)),
      maintenanceUsers: maintainers && new Set(maintainers),
      headers: http.headers,
    };
    return { config, warnings };
  }, options);
}

const NONE_TRUSTED = "without client_ca_file, clients that send a certificate are refused";
