import { expect, test } from "vitest";
import { hasAllowedSan } from "../../src/web/client-certificates.ts";

test.each([
  ["DNS:a.example, DNS:b.example", true],
  ["IP Address:10.0.0.1, DNS:b.example", true],
  ["email:b.example", true],
  ["URI:b.example", true],
  ["DNS:B.example", false],
  ["DNS:x.b.example", false],
  ['DNS:"a.example, DNS:b.example"', false],
  ['DNS:"a.example\\", DNS:b.example", DNS:c.example', false],
  ['DirName:"CN = x", DNS:b.example', true],
  ["DirName:b.example", false],
  ["Registered ID:1.2.3, DNS:b.example", true],
  ["", false],
  [undefined, false],
])("of the alternative names %s, b.example is one: %s", (names, expected) => {
  expect(hasAllowedSan(names, ["b.example"])).toBe(expected);
});

test.each([
  ["2001:db8::1", true],
  ["2001:db8:0:0:0:0:0:1", true],
  ["2001:db8::2", false],
])("an address is the same in every spelling: %s", (allowed, expected) => {
  expect(hasAllowedSan("IP Address:2001:DB8:0:0:0:0:0:1", [allowed])).toBe(expected);
});
