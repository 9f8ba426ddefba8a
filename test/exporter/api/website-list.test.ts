import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeWebsiteList } from "../../../src/appliance/encode.ts";
import { decodeWebsiteList, WEBSITE_LIST } from "../../../src/exporter/api/website-list.ts";

const decode = (text: string) => decodeWebsiteList(Buffer.from(text));
const problemOf = (reason: string, message: string) => ({
  ok: false,
  failure: { reason, message: `$: ${message}` },
});

test("reads ids as strings and as numbers, in any order and with gaps, each once", () => {
  expect(decode('["12", 3, "7", 3, " 7 "]')).toEqual({ ok: true, value: { ids: [3, 7, 12], invalid: [] } });
});

test("an empty array is a list without websites", () => {
  expect(decode("[]")).toEqual({ ok: true, value: { ids: [], invalid: [] } });
});

test.each([
  ["{}", "expected an array of ids, got an object"],
  ["null", "expected an array of ids, got null"],
  ['"1"', "expected an array of ids, got a string"],
  ["<html>login</html>", "expected JSON, got markup"],
  ["", "expected JSON, got nothing"],
])("%s is never a list without websites", (text, message) => {
  expect(decode(text)).toEqual(problemOf("decode", message));
});

test("drops and reports entries that are no ids, so that none can reach a path", () => {
  const text = '["1", "../appliance", "1/denylog", "01", 0, "-1", 1.5, "12345678901", null, [2], {}, "2"]';
  const invalid = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((index) => `$[${index}]`);
  expect(decode(text)).toEqual({ ok: true, value: { ids: [1, 2], invalid } });
});

test("more than 4,096 entries are too large", () => {
  const ids = Array.from({ length: 4097 }, (_, nth) => nth + 1);
  expect(decode(encodeWebsiteList(ids))).toEqual(problemOf("too_large", "expected at most 4096 ids"));
  expect(decode(encodeWebsiteList(ids.slice(1)))).toMatchObject({ ok: true });
});

test("reads what it writes", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 9_999_999_999 })), (ids) => {
      const sorted = ids.toSorted((a, b) => a - b);
      expect(decode(encodeWebsiteList(ids))).toEqual({ ok: true, value: { ids: sorted, invalid: [] } });
    }),
  );
});

test("its path is fixed", () => {
  expect(WEBSITE_LIST.path()).toBe("/api/v1/website");
});
