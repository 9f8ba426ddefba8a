import { dirname, resolve } from "node:path";
import type { ConfigError } from "../../config/config.ts";
import { checkCertificates, checkPrivateKey } from "../../config/resolve/pem-file.ts";
import type { SourceRecord } from "../../config/sources.ts";
import { errorAt, type YamlFile } from "../../config/yaml/file.ts";
import { valueAt } from "../../config/yaml/validate.ts";
import { showPath } from "../../config/yaml/wording.ts";

const MAX_PEM_BYTES = 4 * 1024 * 1024;

/** The PEM texts that a web configuration holds or names. A text is there only if it is sound. */
export interface PemSources {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly clientCa: string | undefined;
  readonly errors: readonly ConfigError[];
}

interface PemSource {
  readonly text?: string;
  readonly errors: readonly ConfigError[];
}

/** Reads certificate, key and authorities, inline or from recorded files relative to the configuration's own place. */
export async function readPemSources(file: YamlFile, { readText }: SourceRecord): Promise<PemSources> {
  const [cert, key, clientCa] = await Promise.all([
    readPemSource(file, "cert", checkCertificates, readText),
    readPemSource(file, "key", checkPrivateKey, readText),
    readPemSource(file, "client_ca", checkCertificates, readText),
  ]);
  return {
    cert: cert.text,
    key: key.text,
    clientCa: clientCa.text,
    errors: [cert, key, clientCa].flatMap(({ errors }) => errors),
  };
}

async function readPemSource(
  file: YamlFile,
  key: string,
  check: (pem: string) => string | undefined,
  readText: SourceRecord["readText"],
): Promise<PemSource> {
  const inline = textAt(file, key);
  const path = textAt(file, `${key}_file`);
  const refuse = (at: string, message: string): PemSource => ({
    errors: [errorAt(file, ["tls_server_config", at], message)],
  });
  if (inline !== undefined && path !== undefined) {
    return refuse(key, `expected at most one of ${key} and ${key}_file`);
  }
  if (inline !== undefined) {
    const message = check(inline);
    return message === undefined ? { text: inline, errors: [] } : refuse(key, message);
  }
  if (path === undefined) return { errors: [] };
  const absolute = resolve(dirname(file.file), path);
  // What stands between the blocks may be in any encoding.
  const read = await readText(absolute, MAX_PEM_BYTES, "lenient");
  const message = read.ok ? check(read.text) : read.message;
  if (!read.ok || message !== undefined) {
    return refuse(`${key}_file`, `cannot use ${showPath(path, absolute)}: ${message}`);
  }
  return { text: read.text, errors: [] };
}

function textAt(file: YamlFile, key: string): string | undefined {
  const value = valueAt(file.data, ["tls_server_config", key]);
  return typeof value === "string" && value !== "" ? value : undefined;
}
