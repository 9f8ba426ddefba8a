import { expect, test } from "vitest";
import { errorsOf } from "../folder.ts";

/** A file with one lone appliance, whose last setting stands in line 4 from column 5 on. */
function withAppliance(setting: string): string {
  return `appliances:\n  - name: a\n    base_url: https://h\n    ${setting}\n`;
}

const labels = (block: string) => withAppliance(`labels: { ${block} }`);

const ours = [
  ..."appliance ha_cluster interface vhid vip device netmask peer type state website_id website".split(" "),
  ..."protocol operation reason anomaly".split(" "),
];
const reserved = "endpoint cluster instance job pod service namespace container node le quantile".split(" ");

test.each<readonly [string, string]>([
  ...ours.map((name) => [`${name}: x`, `.${name}: the exporter sets this label itself`] as const),
  ...reserved.map((name) => [`${name}: x`, `.${name}: this label name is reserved`] as const),
  ["__x: y", ".__x: label names that start with __ belong to Prometheus"],
  ["9x: y", '["9x"]: expected a label name of letters, digits and _ that starts with no digit'],
  ["x-y: z", ".x-y: expected a label name of letters, digits and _ that starts with no digit"],
  ["x: 3", ".x: expected a text, got 3; put it in quotes"],
  ["x: true", ".x: expected a text, got true; put it in quotes"],
  ["x: ~", ".x: expected a text, got nothing"],
  ['x: "\\udc00"', '.x: expected well-formed Unicode, got "\\udc00"'],
])("%s: %s", async (block, error) => {
  expect(await errorsOf(labels(block))).toEqual([`config.yaml:4:15: appliances[0].labels${error}`]);
});
