import { expect, test } from "vitest";
import { isKnownTag } from "../../src/web/etag.ts";

test.each([
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", W/"a"', true],
  ["*", true],
  ['"b"', false],
  ["", false],
])("If-None-Match %j of the tag a", (header, isKnown) => {
  expect(isKnownTag(header, 'W/"a"')).toBe(isKnown);
});
