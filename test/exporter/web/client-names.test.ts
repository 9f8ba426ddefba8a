import { expect, test } from "vitest";
import { alternativeNames, hasName } from "../../../src/exporter/web/client-names.ts";

test.each([
  ["DNS:a.example", ["a.example"]],
  [
    "DNS:a, IP Address:192.0.2.1, URI:spiffe://a/b, email:a@example.org",
    ["a", "192.0.2.1", "spiffe://a/b", "a@example.org"],
  ],
  ["IP Address:2001:DB8:0:0:0:0:0:1", ["2001:db8::1"]],
  ['URI:"https://a/, DNS:admin", DNS:b', ["https://a/, DNS:admin", "b"]],
  ["Registered ID:1.2.3.4, DNS:a", ["a"]],
  ['DNS:"a", "b"', []],
  ['DNS:a, URI:"broken', []],
  ['DNS:"\\x"', []],
  ["", []],
  [undefined, []],
])("the names in %j are %j", (subjectAltName, names) => {
  expect(alternativeNames({ subjectAltName })).toEqual(names);
});

test.each([
  ["DNS:a.example", ["b.example", "a.example"], true],
  ["DNS:a.example", ["A.example"], false],
  ["DNS:a.example", [], false],
  ["IP Address:2001:DB8:0:0:0:0:0:1", ["2001:db8:0::1"], true],
])("a certificate for %s is among %j: %s", (subjectAltName, allowed, isAllowed) => {
  expect(hasName({ subjectAltName }, allowed)).toBe(isAllowed);
});
