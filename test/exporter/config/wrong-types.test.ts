import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { applianceSchema } from "../../../src/appliance/config.ts";
import type { ConfigError } from "../../../src/exporter/config/errors.ts";
import { describeIssue } from "../../../src/exporter/config/issue-words.ts";
import { configSchema } from "../../../src/exporter/config/schema.ts";
import { collect } from "../../../src/exporter/config/sources.ts";
import { loadYaml } from "../../../src/exporter/config/validate.ts";
import { changeSchema } from "../../../src/exporter/maintenance/request.ts";
import { webConfigSchema } from "../../../src/exporter/web/web-config.ts";
import { createFolder } from "./folder.ts";

/** Words of the schema library, and of JavaScript. */
const FOREIGN =
  /Invalid (input|option|key|value|string|number|element|ISO)|received|Too (small|big)|Unrecognized|>=|<=|\b(string|array|object|boolean|int|null|undefined|NaN|regex|pattern)\b/;

/** A value of each type, none of which is valid where another one is expected. */
const VALUES: readonly unknown[] = [null, true, 12.5, 7, "\u0007", [], [[]], {}, { "\u0007": 1 }];

type JsonSchema = z.core.JSONSchema.BaseSchema;

const ITEM = Symbol("the item of a list");
type Path = readonly (string | typeof ITEM)[];

/** Returns the paths of all keys and items of a schema. A map with any keys has one named `x`. */
function pathsIn(schema: JsonSchema, root: JsonSchema, path: Path = []): readonly Path[] {
  if (schema.$ref !== undefined) {
    const named = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return named === undefined ? [] : pathsIn(named, root, path);
  }
  const inner = (each: JsonSchema["items"], ...keys: Path): readonly Path[] =>
    typeof each !== "object" || Array.isArray(each)
      ? []
      : [[...path, ...keys], ...pathsIn(each, root, [...path, ...keys])];
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [], allOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([key, each]) => inner(each, key)),
    ...(typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0
      ? inner(additionalProperties, "x")
      : []),
    ...(items === undefined ? [] : inner(items, ITEM)),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((each) => pathsIn(each, root, path)),
  ];
}

/** Returns data with a value at a path, and besides it only the maps in `around`. */
function dataWith(path: Path, value: unknown, around: Data = {}): unknown {
  const data = path.reduceRight<unknown>(
    (inner, key) => (typeof key === "string" ? { [key]: inner } : [inner]),
    value,
  );
  return merged(around, data);
}

type Data = Readonly<Record<string, unknown>>;

function isMap(data: unknown): data is Data {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

function merged(outer: unknown, inner: unknown): unknown {
  if (!isMap(outer) || !isMap(inner)) return inner;
  const keys = [...new Set([...Object.keys(outer), ...Object.keys(inner)])];
  return Object.fromEntries(
    keys.map((key) => [key, key in inner ? merged(outer[key], inner[key]) : outer[key]]),
  );
}

async function errorsIn(schema: z.ZodType, data: unknown): Promise<readonly ConfigError[]> {
  const folder = await createFolder({ "a.yaml": JSON.stringify(data) });
  const loaded = await collect((collector) => loadYaml(join(folder, "a.yaml"), schema, collector));
  return loaded.ok ? [] : loaded.errors;
}

/** Returns how an error writes a path, without the keys that it does not show. */
function shown(path: Path): string {
  return path
    .map((key) => (typeof key === "string" ? `.${key}` : "[0]"))
    .join("")
    .replace(/^\./, "");
}

/** Whether an error is at a path, or at the map of which a key of the path is not one. */
function isAt({ path, message }: ConfigError, wanted: Path): boolean {
  return path.replaceAll("[...]", ".x").startsWith(shown(wanted)) || message.startsWith("unknown key");
}

describe.each([
  ["the configuration", configSchema, {}],
  ["the web configuration", webConfigSchema, {}],
  ["a static appliance", applianceSchema, { vrrp: { source: "static" } }],
  ["an appliance with keepalived", applianceSchema, { vrrp: { source: "keepalived" } }],
])("a wrong type in %s", (_, schema: z.ZodType, around: Data) => {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const paths = [...new Map(pathsIn(json, json).map((path) => [shown(path), path])).values()];

  test("is tried at more than a dozen keys", () => expect(paths.length).toBeGreaterThan(12));

  test.each(paths.map((path) => [shown(path), path] as const))("at %s has an answer", async (place, path) => {
    const all = await Promise.all(VALUES.map((value) => errorsIn(schema, dataWith(path, value, around))));
    for (const { message, position } of all.flat()) {
      expect(message).not.toMatch(FOREIGN);
      expect(message).toMatch(
        /^(expected |required key is missing|unknown key( "\w+" here)?; expected |needs |not supported by|this label name is reserved)/,
      );
      expect(position).toBeDefined();
    }
    const refused = all.filter((errors) => errors.some((error) => isAt(error, path)));
    expect(refused.length, `${place}: ${JSON.stringify(all)}`).toBeGreaterThanOrEqual(VALUES.length - 5);
  });
});

test("a change of planned work with wrong types has answers too", () => {
  const json = z.toJSONSchema(changeSchema, { io: "input", unrepresentable: "any" });
  for (const path of pathsIn(json, json)) {
    for (const value of VALUES) {
      const { error } = changeSchema.safeParse(dataWith(path, value), { error: describeIssue });
      for (const { message } of error?.issues ?? []) expect(message).not.toMatch(FOREIGN);
    }
  }
});
