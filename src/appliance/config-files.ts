import { dirname, resolve } from "node:path";

import type { ConfigError } from "../config/config.ts";
import { formatPath, type JsonPath } from "../config/errors.ts";
import { readPasswordFile } from "../config/password-file.ts";
import { readTextFile, unfit, type TextResult } from "../config/read-file.ts";
import { checkCertificates, checkPrivateKey } from "../config/resolve/pem-file.ts";
import { valueAt } from "../config/yaml/validate.ts";
import { errorAt, type YamlFile } from "../config/yaml/file.ts";
import { showPath } from "../config/yaml/wording.ts";

const MAX_PEM_BYTES = 1024 * 1024;

/** The files that a configuration names. */
export interface ReferencedFiles {
  /** The text of each that is sound, less white space around it, by the place that names it: `tls.cert_file`. */
  readonly texts: ReadonlyMap<string, string>;
  readonly errors: readonly ConfigError[];
}

interface Reference {
  readonly at: JsonPath;
  readonly read: (path: string) => Promise<TextResult>;
}

/**
 * Reads every file that the configuration names, relative to its own place, whether the rest of it is right or not.
 * One that cannot be read or does not hold what it is for is an error.
 */
export async function readReferencedFiles(file: YamlFile): Promise<ReferencedFiles> {
  const texts = new Map<string, string>();
  const errors: ConfigError[] = [];
  for (const { at, read } of references(file.data)) {
    const name = valueAt(file.data, at);
    // Anything else is told of by the schema.
    if (typeof name !== "string" || name === "") continue;
    const result = await read(resolve(dirname(file.file), name));
    // The password itself may have been written where its file's path belongs.
    const shown = at.at(-1) === "password_file" ? "this file" : showPath(name, name);
    if (result.ok) texts.set(formatPath(at), result.text.trim());
    else errors.push(errorAt(file, at, `${shown}: ${result.message}`));
  }
  return { texts, errors };
}

function references(data: unknown): readonly Reference[] {
  const users = valueAt(data, ["users"]);
  const passwords = (Array.isArray(users) ? users : []).map((_, index) => ({
    at: ["users", index, "password_file"],
    read: readPassword,
  }));
  return [
    { at: ["tls", "cert_file"], read: (path) => readPem(path, checkCertificates) },
    { at: ["tls", "key_file"], read: (path) => readPem(path, checkPrivateKey) },
    {
      at: ["website_test", "tls_config", "ca_file"],
      read: (path) => readPem(path, checkCertificates),
    },
    ...passwords,
  ];
}

async function readPem(path: string, check: (pem: string) => string | undefined): Promise<TextResult> {
  const read = await readTextFile(path, MAX_PEM_BYTES, "lenient");
  const message = read.ok ? check(read.text) : undefined;
  return message === undefined ? read : unfit(message);
}

async function readPassword(path: string): Promise<TextResult> {
  const read = await readPasswordFile(path);
  return read.ok ? { ok: true, text: read.secret.reveal() } : read;
}
