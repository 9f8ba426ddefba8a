import { dirname, resolve } from "node:path";
import { valueAt } from "./validate.ts";
import type { YamlFile } from "./yaml.ts";

const SECRET = "<secret>";

/**
 * The configuration as one document of JSON, which is YAML too: clusters and appliances of all files, passwords and
 * credentials in URLs as `<secret>`, absolute paths. Comments name the files. `files`: valid ones, the main file first.
 */
export function showConfig(files: readonly YamlFile[]): string {
  const contents = files.map(redactFile);
  const { config_files: _, ...rest } = Object(contents[0]);
  const merged = ["clusters", "appliances"].map((key) => {
    const lists = contents.map((data) => valueAt(data, [key])).filter(Array.isArray);
    return lists.length === 0 ? {} : { [key]: lists.flat() };
  });
  const names = files.map(({ file }) => `# ${JSON.stringify(resolve(file))}\n`).join("");
  return `# Read from:\n${names}${JSON.stringify(Object.assign(rest, ...merged), null, 2)}\n`;
}

function redactFile({ file, data }: YamlFile): unknown {
  return JSON.parse(JSON.stringify(data, (key, value: unknown) => redactValue(file, key, value)));
}

function redactValue(file: string, key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (key === "password") return SECRET;
  if (key === "proxy_url") return value.replace(/\/\/.*@/su, `//${SECRET}@`);
  return /^(password|ca|cert|key|known_certificates)_file$/.test(key) ? resolve(dirname(file), value) : value;
}
