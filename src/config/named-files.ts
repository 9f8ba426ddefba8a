import { createPrivateKey, X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { JsonPath, Report } from "./errors.ts";
import { checkKnownCertificates } from "./known-certificates.ts";
import { NO_SUCH_FILE, unfit, type ReadFailure, type TextResult } from "./read-file.ts";
import type { SourceReader } from "./sources.ts";
import { valueAt } from "./validate.ts";
import { errorAt, type YamlFile } from "./yaml.ts";

type Kind = "certificates" | "key" | "known certificates" | "password";

/** Reads the files that settings name, each once. A missing or invalid file is an error at the setting. */
export interface NamedFiles {
  /** The text for the setting at `path`; `undefined` without the setting or after an error. */
  read(kind: Kind, file: YamlFile, path: JsonPath): Promise<string | undefined>;
  /** The texts for `cert_file` and `key_file` of the block at `path`, which must match. */
  readKeyPair(file: YamlFile, path: JsonPath): Promise<KeyPair>;
}

/** PEM texts. */
interface KeyPair {
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export function createNamedFiles(reader: SourceReader, report: Report): NamedFiles {
  const results = new Map<string, TextResult>();

  async function read(kind: Kind, file: YamlFile, path: JsonPath): Promise<string | undefined> {
    const name = valueAt(file.data, path);
    if (typeof name !== "string") return undefined;
    const absolute = resolveFrom(file, name);
    const result = results.get(`${kind} ${absolute}`) ?? (await readNamedFile(kind, absolute, reader));
    results.set(`${kind} ${absolute}`, result);
    if (result.ok) return result.text;
    report(errorAt(file, path, describeFailure(kind, file, name, result)));
    return undefined;
  }

  return {
    read,
    readKeyPair: async (file, path) => {
      const cert = await read("certificates", file, [...path, "cert_file"]);
      const key = await read("key", file, [...path, "key_file"]);
      const problem = cert === undefined || key === undefined ? undefined : checkKeyPair(cert, key);
      if (problem !== undefined) report(errorAt(file, [...path, "key_file"], problem));
      return { cert, key };
    },
  };
}

/** The absolute path of a file that the YAML file names. */
export function resolveFrom({ file }: YamlFile, name: string): string {
  return resolve(dirname(file), name);
}

/** A missing file of another name may be a password or a key that was written in place of its path. */
const PLAIN_PATH = /^[\w.~-]*(?:\/[\w.~-]+)+$/;

function describeFailure(kind: Kind, file: YamlFile, name: string, { message }: ReadFailure): string {
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

async function readNamedFile(kind: Kind, path: string, reader: SourceReader): Promise<TextResult> {
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
function checkKeyPair(cert: string, key: string): string | undefined {
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
