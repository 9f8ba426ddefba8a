import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { formatConfigSchema } from "../../../scripts/config-schema.ts";
import { createAuthority } from "../../support/certificates.ts";
import { configOf, errorsOf, type Files } from "./folder.ts";

const root = new URL("../../..", import.meta.url);
const example = await readFile(new URL("config.example.yaml", root), "utf8");

let files: Files;

beforeAll(async () => {
  const authority = await createAuthority();
  const client = await authority.issue();
  files = {
    "config.yaml": example,
    "secrets/monitor": "hunter2\n",
    "secrets/opnsense": "hunter3\n",
    "tls/ca.pem": authority.cert,
    "tls/client.pem": client.cert,
    "tls/client.key": client.key,
    "clusters.d/fra.yaml":
      'clusters: [{ name: fra, appliances: [{ name: waf-fra-1, base_url: "https://h" }] }]\n',
  };
});

test("the example and its files are valid", async () => {
  expect(await errorsOf(files)).toEqual([]);
  const { appliances } = await configOf(files);
  expect(appliances.map(({ name, cluster }) => `${cluster}/${name}`)).toEqual([
    "ams/waf-ams-1",
    "ams/waf-ams-2",
    "fw/fw-1",
    "fw/fw-2",
    "waf-lab/waf-lab",
    "simulator/simulator",
    "fra/waf-fra-1",
  ]);
});

test("the example starts with a reference to the schema", () => {
  expect(example.split("\n", 1)).toEqual(["# yaml-language-server: $schema=./config.schema.json"]);
});

test("the example shows or mentions every key", () => {
  const schema: unknown = JSON.parse(formatConfigSchema());
  const keys = propertyNames(schema).filter((key) => !new RegExp(String.raw`\b${key}:`).test(example));
  expect(keys).toEqual([]);
});

test("the committed schema is up to date", async () => {
  expect(await readFile(new URL("config.schema.json", root), "utf8")).toBe(formatConfigSchema());
});

test("the example satisfies the schema, and an unknown key does not", () => {
  const schema = z.fromJSONSchema(JSON.parse(formatConfigSchema()));
  expect(schema.safeParse(parse(example)).success).toBe(true);
  expect(schema.safeParse({ clusters: [{ name: "c", appliances: [], x: 1 }] }).success).toBe(false);
});

/** All keys in a JSON schema. */
function propertyNames(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === "properties" ? Object.keys(value) : []),
    ...propertyNames(value),
  ]);
}
