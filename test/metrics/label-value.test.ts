import { expect, test } from "vitest";

import { escapeLabelValue } from "../../src/metrics/label-value.ts";

test.each([
  ["plain", "plain"],
  ['say "x"', String.raw`say \"x\"`],
  ["back\\slash", String.raw`back\\slash`],
  ["line\nbreak", String.raw`line\nbreak`],
  ["\\n", String.raw`\\n`],
])("%j is escaped as %s", (value, escaped) => {
  expect(escapeLabelValue(value)).toBe(escaped);
});
