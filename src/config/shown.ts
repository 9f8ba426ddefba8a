import { dirname, resolve } from "node:path";
import { stringify } from "yaml";
import { valueAt } from "./validate.ts";
import type { YamlFile } from "./yaml.ts";

const SECRET = "<secret>";

/**
 * The configuration as written, in one YAML document without comments: clusters and appliances of all files, passwords and
 * credentials in URLs as `<secret>`, absolute paths. The text is rendered at the first call; no secret is kept until then.
 * The files must be valid.
 */
export function showConfig([main, ...included]: readonly [YamlFile, ...YamlFile[]]): () => string {
  const files = [main, ...included].map((file) => ({ name: resolve(file.file), data: redactFile(file) }));
  let text: string | undefined;
  return () => (text ??= renderFiles(files));
}

interface ShownFile {
  readonly name: string;
  readonly data: unknown;
}

function renderFiles(files: readonly ShownFile[]): string {
  const [main] = files;
  const names = files.map(({ name }) => `# ${JSON.stringify(name)}\n`).join("");
  const { config_files: _, ...rest } = Object(main?.data);
  const merged = { ...rest, ...mergedList(files, "clusters"), ...mergedList(files, "appliances") };
  return `# Read from:\n${names}${stringify(merged, { lineWidth: 0 })}`;
}

/** Empty if no file has the list. */
function mergedList(files: readonly ShownFile[], key: string): Readonly<Record<string, unknown>> {
  const lists = files.map(({ data }) => valueAt(data, [key])).filter((list) => Array.isArray(list));
  return lists.length === 0 ? {} : { [key]: lists.flat() };
}

function redactFile({ file, data }: YamlFile): unknown {
  // Copies each value once, although aliases may repeat it: a file may have a million aliased values.
  const copies = new Map<object, unknown>();
  const copy = (key: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return redactValue(file, key, value);
    const known = copies.get(value) ?? copyEntries(value);
    copies.set(value, known);
    return known;
  };
  const copyEntries = (value: object): unknown =>
    Array.isArray(value)
      ? value.map((item: unknown) => copy("", item))
      : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(key, each)]));
  return copy("", data);
}

function redactValue(file: string, key: string, value: unknown): unknown {
  switch (key) {
    case "password":
      return SECRET;
    case "proxy_url":
      return typeof value === "string" ? value.replace(/\/\/.*@/su, `//${SECRET}@`) : SECRET;
    case "password_file":
    case "ca_file":
    case "cert_file":
    case "key_file":
      return typeof value === "string" ? resolve(dirname(file), value) : SECRET;
    default:
      return value;
  }
}
