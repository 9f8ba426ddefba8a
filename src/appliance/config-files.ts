import { dirname, resolve } from "node:path";

import type { ConfigError } from "../config/config.ts";
import { formatPath, type JsonPath } from "../config/errors.ts";
import { readTextFile } from "../config/read-file.ts";
import { valueAt } from "../config/yaml/validate.ts";
import { errorAt, type YamlFile } from "../config/yaml/file.ts";
import { showPath } from "../config/yaml/wording.ts";

const LIMIT_BYTES = 1024 * 1024;

/** The files that a configuration names. */
export interface ReferencedFiles {
  /** The text of each, less white space around it, by the place that names it: `tls.cert_file`. */
  readonly texts: ReadonlyMap<string, string>;
  readonly errors: readonly ConfigError[];
}

/**
 * Reads every file that the configuration names, relative to its own place, whether the rest of it is right or not.
 * One that cannot be read or is empty is an error.
 */
export async function readReferencedFiles(file: YamlFile): Promise<ReferencedFiles> {
  const texts = new Map<string, string>();
  const errors: ConfigError[] = [];
  for (const path of fileKeys(file.data)) {
    const name = valueAt(file.data, path);
    // Anything else is told of by the schema.
    if (typeof name !== "string" || name === "") continue;
    const read = await readTextFile(resolve(dirname(file.file), name), LIMIT_BYTES);
    // The password itself may have been written where its file's path belongs.
    const shown = path.at(-1) === "password_file" ? "this file" : showPath(name, name);
    if (!read.ok) errors.push(errorAt(file, path, `${shown}: ${read.message}`));
    else if (read.text.trim() === "") errors.push(errorAt(file, path, `${shown}: it is empty`));
    else texts.set(formatPath(path), read.text.trim());
  }
  return { texts, errors };
}

function fileKeys(data: unknown): readonly JsonPath[] {
  const users = valueAt(data, ["users"]);
  const passwords = (Array.isArray(users) ? users : []).map((_, index) => ["users", index, "password_file"]);
  return [["tls", "cert_file"], ["tls", "key_file"], ["website_test", "tls_config", "ca_file"], ...passwords];
}
