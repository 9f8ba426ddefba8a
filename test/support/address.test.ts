import { expect, test } from "vitest";
import { canonicalAddress, canonicalHost, isAddress, isLinkLocal } from "../../src/support/address.ts";

test.each([
  ["192.0.2.100", "192.0.2.100"],
  [" 192.0.2.100 ", "192.0.2.100"],
  ["2001:DB8::A", "2001:db8::a"],
  ["2001:0db8:0000:0000:0000:0000:0000:0064", "2001:db8::64"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["::ffff:c000:264", "::ffff:192.0.2.100"],
  ["[2001:DB8::A]", "2001:db8::a"],
  [" [192.0.2.100] ", "192.0.2.100"],
  ["FE80::1%eth0", "fe80::1"],
  ["fe80::1%ge-0/0/1.10", "fe80::1"],
  ["fe80::1%vlan 20", "fe80::1"],
  ["fe80::1%em0/64", "fe80::1"],
  ["fe80::1/64%em0", "fe80::1"],
  ["FE80:0::1/64", "fe80::1"],
  ["2001:db8::1/ffff:ffff:ffff:ffff::", "2001:db8::1"],
  ["192.0.2.100/24", "192.0.2.100"],
  ["192.0.2.100/255.255.255.0", "192.0.2.100"],
  ["192.0.2.100/0", "192.0.2.100"],
  ["2001:db8::1/128", "2001:db8::1"],
  ["[2001:DB8::1]", "2001:db8::1"],
  ["[fe80::1%em0]/64", "fe80::1"],
])("%j is the address %s", (given, canonical) => {
  expect(canonicalAddress(given)).toBe(canonical);
  expect(isAddress(given)).toBe(true);
});

test.each([
  "",
  "192.0.2",
  "192.0.2.256",
  "192.0.02.1",
  "192.0.2.100/33",
  "192.0.2.100/",
  "192.0.2.100/24/24",
  "192.0.2.100/255.0.255.0",
  "192.0.2.100/ffff::",
  "2001:db8::1/129",
  "2001:db8::1/255.255.255.0",
  "192.0.2.100-192.0.2.110",
  "fe80::1%",
  "%em0",
  "[2001:db8::1",
  "2001:db8::1]",
  "::1::",
  "vip-ams",
  " padded text ",
  "[2001:db8::a",
  "[vip-ams]",
])("%j is no address and stays as reported", (given) => {
  expect(canonicalAddress(given)).toBe(given);
  expect(isAddress(given)).toBe(false);
});

test.each([
  ["fe80::1", true],
  ["febf::1", true],
  ["169.254.1.1", true],
  ["fec0::1", false],
  ["fe7f::1", false],
  ["fe8::1", false],
  ["2001:db8:fe80::1", false],
  ["169.255.1.1", false],
  ["192.0.2.100", false],
  ["vip-ams", false],
])("whether %s is link-local: %j", (address, is) => {
  expect(isLinkLocal(address)).toBe(is);
});

test.each([
  ["m\u00FCnchen.example", "xn--mnchen-3ya.example"],
  ["MU\u0308NCHEN.Example", "xn--mnchen-3ya.example"],
  ["XN--MNCHEN-3YA.EXAMPLE", "xn--mnchen-3ya.example"],
  ["shop\u3002example\uFF0Eorg", "shop.example.org"],
  ["\uFF33hop.example", "shop.example"],
  ["stra\u00DFe.example", "xn--strae-oqa.example"],
  ["strasse.example", "strasse.example"],
  ["\u0939\u093F\u0928\u094D\u0926\u0940.example", "xn--j2bd4cyah0f.example"],
  ["My_Shop.example", "my_shop.example"],
  ["*.M\u00FCnchen.example", "*.xn--mnchen-3ya.example"],
  ["shop.example.", "shop.example"],
  ["[2001:DB8:0::6]", "2001:db8::6"],
  ["2001:db8:0:0:0:0:0:6", "2001:db8::6"],
  ["[192.0.2.6]", "192.0.2.6"],
])("%j is the host %s", (given, canonical) => {
  expect(canonicalHost(given)).toBe(canonical);
  expect(canonicalHost(canonical)).toBe(canonical);
});

test.each([
  // These names are not valid, so they have no A-labels.
  ["XN--A.example", "xn--a.example"],
  ["xn--.example", "xn--.example"],
  ["Under The.example", "under the.example"],
  // URLs have these for 127.0.0.1, and other programs do not.
  ["0X7F.1", "0x7f.1"],
  ["2130706433", "2130706433"],
  ["127.1", "127.1"],
  ["\uFF11\uFF12\uFF17.0.0.1", "\uFF11\uFF12\uFF17.0.0.1"],
  // A URL would end here, or decode this.
  ["Shop.example/a", "shop.example/a"],
  ["shop.example\\a", "shop.example\\a"],
  ["shop.example?a", "shop.example?a"],
  ["shop.example#a", "shop.example#a"],
  ["a@shop.example", "a@shop.example"],
  ["shop.example:80", "shop.example:80"],
  ["sh%6Fp.example", "sh%6fp.example"],
  ["sho\tp.example", "sho\tp.example"],
  ["", ""],
])("the text %j is no name, and stays apart from names as %j", (given, text) => {
  expect(canonicalHost(given)).toBe(text);
});

test("a name that is longer than allowed is compared too", () => {
  const long = `${"m\u00FC".repeat(90)}.example`;
  expect(canonicalHost(long.toUpperCase())).toBe(canonicalHost(long));
});
