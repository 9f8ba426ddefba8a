import { validateHeaderValue } from "node:http";
import type { SecureVersion } from "node:tls";
import { z } from "zod";
import type { ConfigError } from "../config/config.ts";
import { limitErrors } from "../config/errors.ts";
import { checkKeyPair, readNamedFiles } from "../config/named-files.ts";
import { tlsVersionSchema } from "../config/schema.ts";
import { recordSources, type Source } from "../config/sources.ts";
import { expected, validateYaml } from "../config/validate.ts";
import { errorAt, readYamlFile } from "../config/yaml.ts";
import { Secret } from "../support/secret.ts";

/** How our own server is protected. */
export interface WebConfig {
  /** `undefined` for plain HTTP. */
  readonly tls: TlsSettings | undefined;
  /** bcrypt hashes by user name; empty: no password is required. */
  readonly users: ReadonlyMap<string, Secret>;
  /** Set on every response. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How our own server speaks TLS; texts are PEM. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: Secret;
  /** Who signs clients' certificates; `undefined`: the well-known authorities. */
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuth;
  readonly minVersion: SecureVersion;
}

/** What the server does about the certificates of its clients. @see Go, crypto/tls, ClientAuthType */
export type ClientAuth = Exclude<z.infer<typeof clientAuthSchema>, "RequireClientCert">;

const clientAuthSchema = z.enum([
  "NoClientCert",
  "RequestClientCert",
  "RequireAnyClientCert",
  // The older name of the one above.
  "RequireClientCert",
  "VerifyClientCertIfGiven",
  "RequireAndVerifyClientCert",
]);

/** A key of the format that we do not have. */
const unsupported = z.undefined({ error: "not supported by this exporter" }).optional();
const fileSchema = z.string().min(1, "expected the path of a file");

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
  });

const wordHeader = expected("a text that may stand in an HTTP header");

/** One line; YAML reads the `0` of X-XSS-Protection as a number. */
const headerSchema = z.union([z.string(), z.number()], { error: wordHeader }).transform((given, context) => {
  const line = String(given)
    .trim()
    .replaceAll(/[\r\n]+/g, " ");
  if (isHeaderValue(line)) return line;
  context.addIssue({ code: "custom", message: wordHeader({ input: given }) });
  return z.NEVER;
});

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue("x", value);
    return true;
  } catch {
    return false;
  }
}

const wordHash = "expected a bcrypt hash, which starts with $2a$, $2b$ or $2y$";

/** @see Prometheus exporter-toolkit, web configuration */
const webConfigSchema = z.strictObject({
  tls_server_config: tlsSchema.optional(),
  basic_auth_users: z
    .record(
      z.string(),
      z
        .string({ error: wordHash })
        .trim()
        .regex(/^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/, wordHash),
    )
    .default({}),
  http_server_config: z
    .strictObject({
      // Accepted because many files have it; HTTP/1.1 alone is served.
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

/** `sources`: all that was read, as it was found, so that no change between two readings is lost. */
export type WebConfigResult =
  | { readonly ok: true; readonly config: WebConfig; readonly sources: readonly Source[] }
  | { readonly ok: false; readonly errors: readonly ConfigError[]; readonly sources: readonly Source[] };

/**
 * The web configuration in a file and the files that it names, or what is wrong with it: the schema's errors first.
 * An empty file is refused: a file that is half written must not open the pages to everybody.
 */
export async function loadWebConfig(path: string): Promise<WebConfigResult> {
  const record = recordSources();
  const refuse = (errors: readonly ConfigError[]): WebConfigResult => ({
    ok: false,
    errors: limitErrors(errors, [path]),
    sources: record.sources(),
  });
  const read = await readYamlFile(path, record.readText);
  if (!read.ok) return refuse(read.errors);
  const { file } = read;
  const validated = validateYaml(file, webConfigSchema);
  if (!validated.ok) return refuse(validated.errors);
  const { tls_server_config: tls, basic_auth_users: users, http_server_config: http } = validated.value;
  const named = [
    { kind: "certificates", key: "cert_file", name: tls?.cert_file },
    { kind: "key", key: "key_file", name: tls?.key_file },
    { kind: "certificates", key: "client_ca_file", name: tls?.client_ca_file },
  ] as const;
  const { textOf, errors } = await readNamedFiles(
    named.flatMap(({ kind, key, name }) =>
      name === undefined ? [] : [{ kind, file, at: ["tls_server_config", key], name }],
    ),
    record,
  );
  if (errors.length > 0) return refuse(errors);
  const cert = textOf("certificates", file, tls?.cert_file) ?? "";
  const key = textOf("key", file, tls?.key_file) ?? "";
  const mismatch = tls === undefined ? undefined : checkKeyPair(cert, key);
  if (mismatch !== undefined) return refuse([errorAt(file, ["tls_server_config", "key_file"], mismatch)]);
  return {
    ok: true,
    config: {
      tls: tls && {
        cert,
        key: new Secret(key),
        clientCa: textOf("certificates", file, tls.client_ca_file),
        clientAuth:
          tls.client_auth_type === "RequireClientCert" ? "RequireAnyClientCert" : tls.client_auth_type,
        minVersion: tls.min_version,
      },
      users: new Map(Object.entries(users).map(([name, hash]) => [name, new Secret(hash)])),
      headers: Object.fromEntries(
        Object.entries(http.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
    },
    sources: record.sources(),
  };
}
