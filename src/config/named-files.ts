import { createPrivateKey, X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { ConfigError } from "./config.ts";
import type { JsonPath } from "./errors.ts";
import { readPasswordFile } from "./password-file.ts";
import { unfit, type TextResult } from "./read-file.ts";
import { sourceState, type SourceRecord } from "./sources.ts";
import { show } from "./validate.ts";
import { errorAt, type YamlFile } from "./yaml.ts";

const MAX_PEM_BYTES = 4 * 1024 * 1024;

/** A setting that names a file, relative to the file that contains the setting. */
export interface NamedFile {
  readonly kind: "certificates" | "key" | "password";
  readonly file: YamlFile;
  /** The location of the setting. */
  readonly at: JsonPath;
  readonly name: string;
}

/** The contents of the named files. */
export interface NamedFiles {
  readonly textOf: (kind: NamedFile["kind"], file: YamlFile, name: string | undefined) => string | undefined;
  readonly errors: readonly ConfigError[];
}

/** Reads every named file once. A missing or invalid file is an error at the setting that names it. */
export async function readNamedFiles(files: readonly NamedFile[], record: SourceRecord): Promise<NamedFiles> {
  const results = new Map<string, TextResult>();
  const errors: ConfigError[] = [];
  for (const { kind, file, at, name } of files) {
    const path = resolveFrom(file, name);
    const key = `${kind} ${path}`;
    // Sequentially: thousands of files at once would exhaust the descriptors.
    const result = results.get(key) ?? (await readNamedFile(kind, path, record));
    results.set(key, result);
    if (!result.ok)
      errors.push(errorAt(file, at, `cannot use ${showName(kind, name, path)}: ${result.message}`));
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

/** Hides a name that may be a secret written in place of a path: a password, or a key as PEM or base64. */
function showName(kind: NamedFile["kind"], name: string, path: string): string {
  if (kind === "password") return "the password file";
  return /-----|[\r\n]|^[A-Za-z0-9+][A-Za-z0-9+/=]{47,}$/.test(name) ? "this file" : show(path);
}

async function readNamedFile(
  kind: NamedFile["kind"],
  path: string,
  record: SourceRecord,
): Promise<TextResult> {
  if (kind === "password") return readPassword(path, record);
  // Comments between the blocks of a PEM file may have any encoding.
  const read = await record.readText(path, MAX_PEM_BYTES, "lenient");
  if (!read.ok) return read;
  const message = kind === "key" ? checkPrivateKey(read.text) : checkCertificates(read.text);
  return message === undefined ? read : unfit(message);
}

/** Recorded as a source only while the file is invalid: polls read changed passwords themselves. */
async function readPassword(path: string, record: SourceRecord): Promise<TextResult> {
  const result = await readPasswordFile(path);
  if (result.ok) return { ok: true, text: result.secret.reveal() };
  const read = async () => sourceState(await readPasswordFile(path), () => "valid");
  // Without the path, which may be the password itself.
  record.add({ name: "a password file", state: sourceState(result, () => "valid"), read });
  return result;
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

/** Why a valid certificate and a valid key do not match, or `undefined`. */
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
