import { expect, test } from "vitest";
import { errorsOf } from "./folder.ts";

const member = (name: string) => `{ name: ${name}, base_url: "https://${name}" }`;

test.each([
  [
    "appliances: [{ base_url: https://h }]\n",
    "config.yaml:1:14: appliances[0].name: required key is missing",
  ],
  [
    'appliances: [{ name: "", base_url: https://h }]\n',
    "config.yaml:1:16: appliances[0].name: expected a non-empty name",
  ],
  [
    "appliances: [{ name: 12, base_url: https://h }]\n",
    "config.yaml:1:16: appliances[0].name: expected a name, got 12; put it in quotes",
  ],
  [
    `appliances: [{ name: ${"ä".repeat(65)}, base_url: https://h }]\n`,
    "config.yaml:1:16: appliances[0].name: expected a name of at most 128 bytes",
  ],
  [
    'appliances: [{ name: "a\\nb", base_url: https://h }]\n',
    "config.yaml:1:16: appliances[0].name: expected a name without control characters",
  ],
  [
    'appliances: [{ name: " a", base_url: https://h }]\n',
    "config.yaml:1:16: appliances[0].name: expected a name without spaces at the start and the end",
  ],
  [
    'appliances: [{ name: "a\u00A0", base_url: https://h }]\n',
    "config.yaml:1:16: appliances[0].name: expected a name without spaces at the start and the end",
  ],
  [
    'clusters: [{ name: "#c", appliances: [] }]\n',
    "config.yaml:1:14: clusters[0].name: expected a name that does not start with #",
  ],
  [
    'clusters: [{ name: "\\ud800", appliances: [] }]\n',
    "config.yaml:1:14: clusters[0].name: expected a name of valid Unicode",
  ],
  ["clusters: [{ appliances: [] }]\n", "config.yaml:1:12: clusters[0].name: required key is missing"],
  ["clusters: [{ name: c }]\n", "config.yaml:1:12: clusters[0].appliances: required key is missing"],
])("%j: %s", async (text, error) => {
  expect(await errorsOf(text)).toEqual([error]);
});

test.each([
  [
    `appliances:\n  - ${member("a")}\n  - ${member("a")}\n`,
    'config.yaml:3:7: appliances[1].name: duplicate name "a", also at config.yaml:2:7',
  ],
  [
    "clusters:\n  - { name: c, appliances: [] }\n  - { name: c, appliances: [] }\n",
    'config.yaml:3:7: clusters[1].name: duplicate name "c", also at config.yaml:2:7',
  ],
  [
    `appliances: [${member("c")}]\nclusters: [{ name: c, appliances: [] }]\n`,
    'config.yaml:1:16: appliances[0].name: duplicate name "c", also at config.yaml:2:14',
  ],
  [
    `clusters:\n  - { name: a, appliances: [${member("x")}] }\n  - { name: b, appliances: [${member("x")}] }\n`,
    'config.yaml:3:31: clusters[1].appliances[0].name: duplicate name "x", also at config.yaml:2:31',
  ],
])("%j: %s", async (text, error) => {
  expect(await errorsOf(text)).toEqual([error]);
});

test("a cluster may be named like one of its own appliances", async () => {
  expect(await errorsOf(`clusters: [{ name: a, appliances: [${member("a")}, ${member("b")}] }]\n`)).toEqual(
    [],
  );
});
