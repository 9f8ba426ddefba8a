import { expect, test } from "vitest";
import { parseStatusRange, statusSetHas } from "../../src/config/status-set.ts";

test.each([
  ["401", { from: 401, to: 401 }],
  ["200-399", { from: 200, to: 399 }],
  ["100-999", { from: 100, to: 999 }],
])("%s is a range", (text, range) => {
  expect(parseStatusRange(text)).toEqual(range);
});

test.each(["", "99", "1000", "099", "399-200", "200-", "-399", "200 - 399", "2xx", "200-399-401"])(
  "%j is no range",
  (text) => {
    expect(parseStatusRange(text)).toBeUndefined();
  },
);

test("a set contains its ranges, both ends included", () => {
  const set = {
    ranges: [
      { from: 200, to: 399 },
      { from: 401, to: 401 },
    ],
  };
  expect([0, 199, 200, 399, 400, 401, 402].filter((status) => statusSetHas(set, status))).toEqual([
    200, 399, 401,
  ]);
});
