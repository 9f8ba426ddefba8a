import { createPrivateKey, X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { ConfigError } from "./config.ts";
import type { JsonPath } from "./errors.ts";
import { checkKnownCertificates } from "./known-certificates.ts";
import { NO_SUCH_FILE, unfit, type ReadFailure, type TextResult } from "./read-file.ts";
import type { SourceReader } from "./sources.ts";
import { errorAt, type YamlFile } from "./yaml.ts";

/** A setting that names a file, relative to the file that contains the setting. */
export interface NamedFile {
  readonly kind: "certificates" | "key" | "known certificates" | "password";
  readonly file: YamlFile;
  /** The location of the setting. */
  readonly at: JsonPath;
  /** `undefined` if the setting is missing. */
  readonly name: string | undefined;
}

/** The contents of the named files. */
export interface NamedFiles {
  readonly textOf: (kind: NamedFile["kind"], file: YamlFile, name: string | undefined) => string | undefined;
  readonly errors: readonly ConfigError[];
}

/** Reads every named file once. A missing or invalid file is an error at the setting that names it. */
export async function readNamedFiles(files: readonly NamedFile[], reader: SourceReader): Promise<NamedFiles> {
  const results = new Map<string, TextResult>();
  const errors: ConfigError[] = [];
  for (const named of files) {
    const { kind, file, at, name } = named;
    if (name === undefined) continue;
    const path = resolveFrom(file, name);
    const key = `${kind} ${path}`;
    // Sequentially: thousands of files at once would exhaust the descriptors.
    const result = results.get(key) ?? (await readNamedFile(kind, path, reader));
    results.set(key, result);
    if (!result.ok) errors.push(errorAt(file, at, describeFailure(named, result)));
  }
  return {
    textOf: (kind, file, name) => {
      const result = name === undefined ? undefined : results.get(`${kind} ${resolveFrom(file, name)}`);
      return result?.ok === true ? result.text : undefined;
    },
    errors,
  };
}

/** The absolute path of a file that the YAML file names. */
export function resolveFrom({ file }: YamlFile, name: string): string {
  return resolve(dirname(file), name);
}

/** A missing file of another name may be a password or a key that was written in place of its path. */
const PLAIN_PATH = /^[\w.~-]*(?:\/[\w.~-]+)+$/;

function describeFailure({ kind, file, name = "" }: NamedFile, { message }: ReadFailure): string {
  const path = JSON.stringify(resolveFrom(file, name));
  if (kind !== "password" && kind !== "key") return `cannot use ${path}: ${message}`;
  return message === NO_SUCH_FILE && !PLAIN_PATH.test(name)
    ? `cannot use the ${kind} file: ${message}, relative to ${JSON.stringify(resolveFrom(file, "."))}`
    : `cannot use the ${kind} file ${path}: ${message}`;
}

const CHECKS = {
  certificates: checkCertificates,
  key: checkPrivateKey,
  "known certificates": checkKnownCertificates,
} as const;

async function readNamedFile(
  kind: NamedFile["kind"],
  path: string,
  reader: SourceReader,
): Promise<TextResult> {
  if (kind === "password") return reader.read("password", path);
  const read = await reader.read("text", path);
  // As known_hosts, the file need not exist.
  if (kind === "known certificates" && !read.ok && read.message === NO_SUCH_FILE)
    return { ok: true, text: "" };
  if (!read.ok) return read;
  const message = CHECKS[kind](read.text);
  return message === undefined ? read : unfit(message);
}

function checkCertificates(pem: string): string | undefined {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return "it contains no PEM certificate";
  const areValid = blocks.every((block) => attempt(() => new X509Certificate(block)) !== undefined);
  return areValid ? undefined : "it contains an invalid PEM certificate";
}

function checkPrivateKey(pem: string): string | undefined {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    return "the key is encrypted; expected a key without a passphrase";
  }
  return attempt(() => createPrivateKey(pem)) ? undefined : "it contains no PEM private key";
}

/** Why a valid certificate and a valid key cannot be used together, or `undefined`. */
export function checkKeyPair(cert: string, key: string): string | undefined {
  const matches = attempt(() => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)));
  if (matches !== true) return "the key does not match the certificate in cert_file";
  // OpenSSL also rejects keys that are too short.
  const isUsable = attempt(() => createSecureContext({ cert, key })) !== undefined;
  return isUsable ? undefined : "TLS rejects this key and its certificate";
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
