import { expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

const cluster = (...members: readonly string[]): string =>
  `clusters:\n  - name: ams\n    appliances:\n${members.map((each) => `      - ${each}\n`).join("")}`;

const duplicate =
  "config.yaml:5:20: clusters[0].appliances[1].base_url: duplicate address in one cluster, also at config.yaml:4:20";

test.each([
  ["https://h", "https://h"],
  ["https://h", "https://h/"],
  ["https://h:443", "https://h"],
  ["https://H.Example", "https://h.example"],
  ["https://h/mgmt/", "https://h/mgmt"],
  ["https://[2001:db8::1]:4849", "https://[2001:DB8:0:0::0001]:4849"],
])("two members of a cluster must not be at %s and %s", async (first, second) => {
  const text = cluster(`{ name: a, base_url: "${first}" }`, `{ name: b, base_url: "${second}" }`);
  expect(await errorsOf(text)).toEqual([duplicate]);
});

test.each([
  ["https://h", "https://h:4849"],
  ["https://h/a", "https://h/b"],
  ["https://h", "https://h.example"],
])("two members of a cluster may be at %s and %s", async (first, second) => {
  const text = cluster(`{ name: a, base_url: "${first}" }`, `{ name: b, base_url: "${second}" }`);
  expect(await errorsOf(text)).toEqual([]);
});

test("a third member is an error too, with the position of the first", async () => {
  const members = ["a", "b", "c"].map((name) => `{ name: ${name}, base_url: "https://h" }`);
  expect(await errorsOf(cluster(...members))).toEqual([
    duplicate,
    "config.yaml:6:20: clusters[0].appliances[2].base_url: duplicate address in one cluster, also at config.yaml:4:20",
  ]);
});

test("a disabled member is ignored", async () => {
  const text = cluster(
    '{ name: a, base_url: "https://h", enabled: false }',
    '{ name: b, base_url: "https://h" }',
  );
  expect(await errorsOf(text)).toEqual([]);
});

test("appliances of different clusters or without one may share an address", async () => {
  const text = `clusters:
  - { name: ams, appliances: [{ name: a, base_url: "https://h" }] }
  - { name: utr, appliances: [{ name: b, base_url: "https://h" }] }
appliances:
  - { name: c, base_url: "https://h" }
  - { name: d, base_url: "https://h" }
`;
  expect(await errorsOf(text)).toEqual([]);
});
