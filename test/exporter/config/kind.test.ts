import { expect, test } from "vitest";
import { configOf, errorsOf, planOf, createFolder } from "./folder.ts";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";

const NO_WEBSITES = "appliances with kind: opnsense have no websites";
const NO_DISCOVERY = `${NO_WEBSITES}: set website_discovery: false where kind is set`;
const REMOVE = `${NO_WEBSITES}: remove it`;

test("the innermost block decides about the kind", async () => {
  const { appliances } = await configOf(`kind: opnsense
clusters:
  - name: fw
    appliances:
      - { name: fw-1, base_url: "https://fw-1" }
      - { name: fw-2, base_url: "https://fw-2", kind: management_api, websites: [1], website_discovery: true }
  - { name: ams, kind: management_api, website_discovery: true, appliances: [{ name: waf-1, base_url: "https://waf-1" }] }
appliances:
  - { name: lone, base_url: "https://lone" }
`);
  expect(appliances.map(({ name, kind }) => [name, kind])).toEqual([
    ["fw-1", "opnsense"],
    ["fw-2", "management_api"],
    ["waf-1", "management_api"],
    ["lone", "opnsense"],
  ]);
});

test("an unknown kind is an error that names the known ones", async () => {
  expect(await errorsOf('appliances: [{ name: a, base_url: "https://a", kind: pfsense }]')).toEqual([
    "config.yaml:1:48: appliances[0].kind: expected management_api or opnsense",
  ]);
});

test("websites and their discovery are errors for a kind without them, once at each place", async () => {
  const errors = await errorsOf(`website_discovery: true
clusters:
  - name: fw
    kind: opnsense
    websites: [1, { id: 2, name: shop }]
    appliances:
      - { name: fw-1, base_url: "https://fw-1" }
      - { name: fw-2, base_url: "https://fw-2", websites: [3] }
      - { name: fw-3, base_url: "https://fw-3", website_discovery: { limit: 9 } }
`);
  expect(errors).toEqual([
    `config.yaml:1:1: website_discovery: ${NO_DISCOVERY}`,
    `config.yaml:5:16: clusters[0].websites[0]: ${NO_WEBSITES}`,
    `config.yaml:5:19: clusters[0].websites[1]: ${NO_WEBSITES}`,
    `config.yaml:8:60: clusters[0].appliances[1].websites[0]: ${NO_WEBSITES}`,
    `config.yaml:9:49: clusters[0].appliances[2].website_discovery: ${REMOVE}`,
  ]);
});

test.each([
  ["beside kind", "clusters[0]", "kind: opnsense, website_discovery: true, appliances: [{ APPLIANCE }]"],
  [
    "below kind",
    "clusters[0].appliances[0]",
    "kind: opnsense, appliances: [{ APPLIANCE, website_discovery: true }]",
  ],
])("discovery %s is to be removed", async (_, path, cluster) => {
  const errors = await errorsOf(
    `clusters: [{ name: fw, ${cluster.replace("APPLIANCE", 'name: fw-1, base_url: "https://fw-1"')} }]`,
  );
  expect(errors).toEqual([expect.stringContaining(`: ${path}.website_discovery: ${REMOVE}`)]);
});

test("a fleet that discovers websites may have appliances without them", async () => {
  const { appliances } = await configOf(`website_discovery: true
clusters:
  - name: mixed
    appliances:
      - { name: waf-1, base_url: "https://waf-1", websites: [1] }
      - { name: fw-1, base_url: "https://fw-1", kind: opnsense, website_discovery: false }
`);
  expect(appliances.map(({ discovery }) => discovery !== undefined)).toEqual([true, false]);
});

const fileOf = (kind: string) => `appliances: [{ name: a, base_url: "https://a", kind: ${kind} }]\n`;

test("a reload says that an appliance of another kind is changed", async () => {
  const file = join(await createFolder({ "config.yaml": fileOf("opnsense") }), "config.yaml");
  const plan = await planOf(file, () => writeFile(file, fileOf("management_api")));
  expect(plan).toMatchObject({ added: [], removed: [], changed: ["a"] });
});
