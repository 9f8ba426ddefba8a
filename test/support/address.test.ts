import { expect, test } from "vitest";
import { canonicalAddress } from "../../src/support/address.ts";

test.each([
  ["192.0.2.100", "192.0.2.100"],
  [" 192.0.2.100 ", "192.0.2.100"],
  ["2001:DB8::A", "2001:db8::a"],
  ["2001:0db8:0000:0000:0000:0000:0000:0064", "2001:db8::64"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["::ffff:c000:264", "::ffff:192.0.2.100"],
  ["FE80::1%eth0", "fe80::1%eth0"],
])("%j is the address %s", (given, canonical) => {
  expect(canonicalAddress(given)).toBe(canonical);
});

test.each([
  "",
  "192.0.2",
  "192.0.2.256",
  "192.0.02.1",
  "192.0.2.100/24",
  "::1::",
  "vip-ams",
  " padded text ",
])("%j is no address and stays as reported", (given) => {
  expect(canonicalAddress(given)).toBe(given);
});
