import { dirname, resolve } from "node:path";
import { stringify } from "yaml";
import type { WrittenConfig } from "./config.ts";
import { valueAt } from "./validate.ts";
import type { YamlFile } from "./yaml.ts";

const SECRET = "<secret>";

/**
 * The configuration in one document: clusters and appliances of all files, passwords and credentials in URLs as
 * `<secret>`, absolute paths. `files`: valid ones, the main file first.
 */
export function redactConfig(files: readonly YamlFile[]): WrittenConfig {
  const contents = files.map(redactFile);
  const { config_files: _, ...rest } = Object(contents[0]);
  const merged = ["clusters", "appliances"].map((key) => {
    const lists = contents.map((data) => valueAt(data, [key])).filter(Array.isArray);
    return lists.length === 0 ? {} : { [key]: lists.flat() };
  });
  return {
    files: files.map(({ file }) => resolve(file)),
    json: JSON.stringify(Object.assign(rest, ...merged)),
  };
}

/** The configuration as YAML, with the names of its files. */
export function renderConfig({ files, json }: WrittenConfig): string {
  const names = files.map((name) => `# ${JSON.stringify(name)}\n`).join("");
  return `# Read from:\n${names}${stringify(JSON.parse(json), { lineWidth: 0 })}`;
}

function redactFile({ file, data }: YamlFile): unknown {
  return JSON.parse(JSON.stringify(data, (key, value: unknown) => redactValue(file, key, value)));
}

function redactValue(file: string, key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  switch (key) {
    case "password":
      return SECRET;
    case "proxy_url":
      return value.replace(/\/\/.*@/su, `//${SECRET}@`);
    case "password_file":
    case "ca_file":
    case "cert_file":
    case "key_file":
    case "known_certificates_file":
      return resolve(dirname(file), value);
    default:
      return value;
  }
}
