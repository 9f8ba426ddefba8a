import { dirname, resolve } from "node:path";
import type { ConfigError } from "../config.ts";
import { readPasswordFile } from "../password-file.ts";
import { checkCertificates, checkPrivateKey } from "./pem-file.ts";
import { sourceState, type SourceRecord } from "../sources.ts";
import type { Scope } from "./scope.ts";
import { valueAt } from "../yaml/validate.ts";
import { showPath } from "../yaml/wording.ts";
import { errorAt, type YamlFile } from "../yaml/file.ts";

const MAX_PEM_BYTES = 4 * 1024 * 1024;

/** The files that the settings name. */
export interface ReferencedFiles {
  /** The texts of sound certificates and keys, by what names them and where they are: `ca_file /etc/ca.pem`. */
  readonly pems: ReadonlyMap<string, string>;
  readonly errors: readonly ConfigError[];
}

/** What makes a file unfit, or its text; a password's text is not needed. */
type Reading =
  | { readonly ok: true; readonly text?: string }
  | { readonly ok: false; readonly message: string };

const KINDS = [
  { block: "basic_auth", key: "password_file", read: readPassword },
  { block: "tls_config", key: "ca_file", read: certificates },
  { block: "tls_config", key: "cert_file", read: certificates },
  { block: "tls_config", key: "key_file", read: privateKey },
] as const;

/**
 * Reads every file that an `http_client` of the scopes names, each once; one that is missing or unfit is an error there.
 * All are recorded but for sound password files, whose changes are the polls' own business.
 */
export async function readReferencedFiles(
  scopes: readonly Scope[],
  record: SourceRecord,
): Promise<ReferencedFiles> {
  const readings = new Map<string, Reading>();
  const pems = new Map<string, string>();
  const errors: ConfigError[] = [];
  for (const { scope, kind, given, path, name } of scopes.flatMap(referencesOf)) {
    // One after the other: thousands of files at once would use up the descriptors.
    const use = `${kind.key} ${path}`;
    const reading = readings.get(use) ?? (await kind.read(path, record));
    readings.set(use, reading);
    if (!reading.ok) {
      // The password itself may have been written where its file's path belongs.
      const shown = kind.key === "password_file" ? "this file" : showPath(given, path);
      const message = `cannot use ${shown}: ${reading.message}`;
      errors.push(errorAt(scope.file, [...scope.path, ...name], message));
    } else if (reading.text !== undefined) pems.set(use, reading.text);
  }
  return { pems, errors };
}

function referencesOf(scope: Scope) {
  return KINDS.flatMap((kind) => {
    const name = ["http_client", kind.block, kind.key];
    const given = valueAt(scope.file.data, [...scope.path, ...name]);
    return typeof given === "string" && given !== ""
      ? [{ scope, kind, name, given, path: resolveFrom(scope.file, given) }]
      : [];
  });
}

/** A path that a file names, absolute; relative ones start at that file's folder. */
export function resolveFrom(file: YamlFile, path: string): string {
  return resolve(dirname(file.file), path);
}

async function readPassword(path: string, record: SourceRecord): Promise<Reading> {
  const result = await readPasswordFile(path);
  if (result.ok) return { ok: true };
  const read = async () => sourceState(await readPasswordFile(path), () => "fit");
  // The password itself may have been written where its file's path belongs.
  record.add({ name: "a password file", statPath: path, state: sourceState(result, () => "fit"), read });
  return result;
}

function certificates(path: string, record: SourceRecord): Promise<Reading> {
  return readPem(path, checkCertificates, record);
}

function privateKey(path: string, record: SourceRecord): Promise<Reading> {
  return readPem(path, checkPrivateKey, record);
}

async function readPem(
  path: string,
  check: (pem: string) => string | undefined,
  { readText }: SourceRecord,
): Promise<Reading> {
  // What stands between the blocks may be in any encoding.
  const read = await readText(path, MAX_PEM_BYTES, "lenient");
  if (!read.ok) return read;
  const message = check(read.text);
  return message === undefined ? read : { ok: false, message };
}
