import { createPrivateKey, X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { JsonPath } from "./errors.ts";
import { parseKnownCertificates } from "./known-certificates.ts";
import type { Collector } from "./sources.ts";
import { NO_SUCH_FILE, unfit, type ReadFailure, type TextResult } from "./read-file.ts";
import { valueAt, type Place } from "./validate.ts";
import type { YamlFile } from "./yaml.ts";

/** The checks for each kind of text, which return what is wrong. */
const CHECKS = {
  certificates: (pem: string) => {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [""];
    const areValid = blocks.every((block) => isPossible(() => new X509Certificate(block)));
    return areValid ? undefined : "expected valid certificates in PEM";
  },
  key: (pem: string) =>
    isPossible(() => createPrivateKey(pem))
      ? undefined
      : "expected a private key in PEM without a passphrase",
  "known certificates": (text: string) => {
    const { invalidLine: line } = parseKnownCertificates(text);
    return line === undefined ? undefined : `line ${line}: expected the name of an appliance and a SHA-256`;
  },
  // The reader has checked the password.
  password: () => undefined,
} as const;

type Kind = keyof typeof CHECKS;

type Block = Omit<Place<unknown>, "settings">;

export type NamedFiles = ReturnType<typeof createNamedFiles>;

/** Creates a reader of the files that settings name, each once. A missing or invalid file is an error at the setting. */
export function createNamedFiles(collector: Collector) {
  const results = new Map<string, TextResult>();

  /** Returns the text for the setting at these keys of a block; `undefined` without the setting or after an error. */
  async function read(kind: Kind, block: Block, ...keys: JsonPath): Promise<string | undefined> {
    const { file } = block;
    const path = [...block.path, ...keys];
    const name = valueAt(file.data, path);
    if (typeof name !== "string" || collector.isSyntaxOnly) return undefined;
    return readFor(path, kind, file, name);
  }

  /** Reads a file once; a failure is reported at a path of the YAML file. */
  async function readFor(path: JsonPath, kind: Kind, file: YamlFile, name: string) {
    const absolute = resolveFrom(file, name);
    const result = results.get(`${kind} ${absolute}`) ?? (await readNamedFile(kind, absolute, collector));
    results.set(`${kind} ${absolute}`, result);
    if (result.ok) return result.text;
    file.report(path, describeFailure(kind, file, name, result));
    return undefined;
  }

  /** Returns the text of a file beside the YAML file that no setting names; `undefined` after an error. */
  async function readBeside(kind: Kind, file: YamlFile, name: string): Promise<string | undefined> {
    return collector.isSyntaxOnly ? undefined : readFor([], kind, file, name);
  }

  /** Returns the PEM text for `key` in the part `name` of a block, or else for the file with this name and `_file`. */
  async function readPem(kind: "certificates" | "key", block: Block, name: string, key: string) {
    const { file } = block;
    const path = [...block.path, name, key];
    const text = valueAt(file.data, path);
    if (typeof text !== "string") return read(kind, block, name, `${key}_file`);
    const problem = CHECKS[kind](text);
    if (problem === undefined) return text;
    file.report(path, problem);
    return undefined;
  }

  /** Returns the PEM texts of the certificate and the key in the part `name` of a block, which must match and be strong enough. */
  async function readKeyPair(block: Block, name: string, strength: SecureContextOptions = {}) {
    const cert = await readPem("certificates", block, name, "cert");
    const key = await readPem("key", block, name, "key");
    if (cert === undefined || key === undefined) return {};
    if (areAccepted(cert, key, strength)) return { cert, key };
    const isInline = valueAt(block.file.data, [...block.path, name, "key"]) !== undefined;
    const path = [...block.path, name, isInline ? "key" : "key_file"];
    block.file.report(path, "TLS rejects this key with this certificate");
    return {};
  }

  return { read, readBeside, readPem, readKeyPair };
}

/** Returns the absolute path of a file that the YAML file names. */
export function resolveFrom({ file }: YamlFile, name: string): string {
  return resolve(dirname(file), name);
}

/** A missing file of another name may be a password or a key that was written in place of its path. */
const PLAIN_PATH = /^[\w.~-]*(?:\/[\w.~-]+)+$/;

function describeFailure(kind: Kind, file: YamlFile, name: string, { message }: ReadFailure): string {
  const mayBeSecret = kind === "password" || kind === "key";
  const isShown = !mayBeSecret || message !== NO_SUCH_FILE || PLAIN_PATH.test(name);
  const path = JSON.stringify(resolveFrom(file, isShown ? name : "."));
  return `cannot use ${isShown ? path : `this file in ${path}`}: ${message}`;
}

async function readNamedFile(kind: Kind, path: string, collector: Collector): Promise<TextResult> {
  const read = await collector.read(kind === "password" ? "password" : "text", path);
  // This file need not exist, like known_hosts.
  const isEmpty = kind === "known certificates" && !read.ok && read.message === NO_SUCH_FILE;
  if (isEmpty) return { ok: true, text: "" };
  const problem = read.ok ? CHECKS[kind](read.text) : undefined;
  return problem === undefined ? read : unfit(problem);
}

/** Whether OpenSSL accepts a certificate and its key with these options. */
export function areAccepted(cert: string, key: string, strength: SecureContextOptions): boolean {
  return isPossible(() => createSecureContext({ cert, key, ...strength }));
}

function isPossible(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}
