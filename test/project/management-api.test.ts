import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MANAGEMENT_API } from "../../src/exporter/api/management-api.ts";

const PAGE = readFileSync("docs/reference/management-api.md", "utf8");

/** The texts of the sections, by their numbers. */
const SECTIONS = new Map(
  Array.from(
    PAGE.matchAll(/^#{2,3} (\d[\d.]*\d|\d)\.? .*\n((?:(?!##).*\n)*)/gm),
    ([, number = "", text = ""]) => [number, text],
  ),
);

const CITATION = /management API (\d[\d.]*(?:, \d[\d.]*)*)/g;

test("docs/reference/management-api.md has every section that the source cites, which cites each object and operation", () => {
  const cited = ["src", "test"]
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    )
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) =>
      Array.from(readFileSync(path, "utf8").matchAll(CITATION), ([, numbers = ""]) => numbers),
    )
    .flatMap((numbers) => numbers.split(", ").map((number) => number.replace(/\.$/, "")));
  expect(cited.filter((number) => !SECTIONS.has(number))).toEqual([]);
  const described = [...SECTIONS.keys()].filter((number) => /^[24]\./.test(number));
  expect(described.filter((number) => !cited.includes(number))).toEqual([]);
});

const HTTP_AND_HTTPS = [
  { protocol: "http", status: 301 },
  { protocol: "https", status: 200 },
];

test.each([
  ["4.1", MANAGEMENT_API.operations.vrrp, { interfaces: [{ name: "carp0" }], unreadable: [], anomalies: [] }],
  ["4.2", MANAGEMENT_API.operations.website_test, { blocks: HTTP_AND_HTTPS }],
  ["4.3", MANAGEMENT_API.operations.website_list, { ids: [1, 2], invalid: [] }],
  [
    "4.4",
    MANAGEMENT_API.operations.website_details,
    { name: "shop", backends: { usable: 1, failed: 1 }, invalid: [] },
  ],
])(
  "section %s of docs/reference/management-api.md has a path and an answer that the exporter reads",
  (number, operation, value) => {
    const section = SECTIONS.get(number);
    const [, path] = /^`GET (\S+)`/.exec(section?.trimStart() ?? "") ?? [];
    expect(path?.replace("ID", "7")).toBe(operation.path(7));
    const [, example = ""] = /^```json\n(.*?)^```$/ms.exec(section ?? "") ?? [];
    expect(operation.decode(Buffer.from(example), (text) => text)).toMatchObject({ ok: true, value });
  },
);
