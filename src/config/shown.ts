import { resolve } from "node:path";
import type { YamlFile } from "./yaml.ts";

const SECRET = "<secret>";

/**
 * The valid files of a configuration as documents of JSON, which is YAML too, with passwords and credentials in URLs as
 * `<secret>`. A comment names each file.
 */
export function showConfig(files: readonly YamlFile[]): string {
  return files
    .map(({ file, data }) => `# ${JSON.stringify(resolve(file))}\n${JSON.stringify(data, redact, 2)}\n`)
    .join("---\n");
}

function redact(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (key === "password") return SECRET;
  return key === "proxy_url" ? value.replace(/\/\/.*@/su, `//${SECRET}@`) : value;
}
