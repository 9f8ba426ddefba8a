import { expect, test } from "vitest";
import { errorsOf } from "../folder.ts";

/** A file with one lone appliance, whose last setting stands in line 4 from column 5 on. */
function withAppliance(setting: string): string {
  return `appliances:\n  - name: a\n    base_url: https://h\n    ${setting}\n`;
}

const websites = (list: string) => withAppliance(`websites: [${list}]`);

const status = "expected a status code such as 401, or a range such as 200-399, got";
test.each([
  ["-1", "4:16: appliances[0].websites[0]: expected a website's id, or a map with an id, got -1"],
  ["1.5", "4:16: appliances[0].websites[0]: expected a website's id, or a map with an id, got 1.5"],
  ["shop", '4:16: appliances[0].websites[0]: expected a website\'s id, or a map with an id, got "shop"'],
  ["{ id: 1e30 }", "4:18: appliances[0].websites[0].id: expected at most 9007199254740991"],
  [
    '{ id: "9007199254740992" }',
    '4:18: appliances[0].websites[0].id: expected a website\'s id: a whole number from 0 on, got "9007199254740992"',
  ],
  ["{ name: x }", "4:16: appliances[0].websites[0].id: required key is missing"],
  [
    "{ id: 1, protocol: ftp }",
    '4:25: appliances[0].websites[0].protocol: expected http, https or both, got "ftp"',
  ],
  [
    "{ id: 1, expect_status: 200 }",
    "4:25: appliances[0].websites[0].expect_status: expected a list, got a number",
  ],
  ["{ id: 1, expect_status: [] }", "4:25: appliances[0].websites[0].expect_status: expected at least 1 item"],
  [
    "{ id: 1, expect_status: [399-200] }",
    `4:41: appliances[0].websites[0].expect_status[0]: ${status} "399-200"`,
  ],
  ["{ id: 1, expect_status: [99] }", `4:41: appliances[0].websites[0].expect_status[0]: ${status} 99`],
  ["1, 2, 1", "4:22: appliances[0].websites[2]: website 1 is already there"],
  ['1, { id: "1" }', "4:19: appliances[0].websites[1]: website 1 is already there"],
])("%s: %s", async (list, error) => {
  expect(await errorsOf(websites(list))).toEqual([`config.yaml:${error}`]);
});

test("an appliance must not repeat a website of its cluster", async () => {
  const text = [
    "clusters:",
    "  - name: c",
    "    websites: [1, 2]",
    "    appliances:",
    '      - { name: a, base_url: "https://h", websites: [3, 2] }',
    '      - { name: b, base_url: "https://i", websites: [3] }',
  ].join("\n");
  expect(await errorsOf(text)).toEqual([
    "config.yaml:5:57: clusters[0].appliances[0].websites[1]: website 2 is already there",
  ]);
});
