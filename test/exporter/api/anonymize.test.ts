import { expect, test } from "vitest";
import { anonymizeBody, createNumbering } from "../../../src/exporter/api/anonymize.ts";
import { MANAGEMENT_API } from "../../../src/exporter/api/management-api.ts";
import type { OperationKind } from "../../../src/exporter/api/operation.ts";

/** A body as it is recorded, on one line if it is JSON. */
function recorded(kind: OperationKind, body: string, number = createNumbering()): string {
  const text = anonymizeBody(Buffer.from(body), MANAGEMENT_API.operations[kind].anonymize, number);
  return text.replaceAll(/\n */g, "");
}

const RULE = "-".repeat(49);

const CARP = {
  state_current: "MASTER",
  vhid: "2",
  vip: "10.20.30.100",
  priority: 204,
  advskew: " 50 ",
  alias: ["10.20.30.101", "fd12::1%eth7", "10.20.30.100"],
  if: "bond0.207",
  netmask: "255.255.255.0",
  carppeer: "10.20.30.3/24",
  type: "1",
  comment: "moved by Mallory",
};

test.each<[string, OperationKind, string, string]>([
  [
    "known members, and the forms of all others",
    "vrrp",
    JSON.stringify({
      "carp-amsterdam": CARP,
      7: { ...CARP, carppeer: "224.0.0.18", note: { by: ["M", null, true, 7] } },
    }),
    '{"interface-1": {"state_current": "MASTER","vhid": "2","vip": "192.0.2.1","priority": 204,"advskew": "50",' +
      '"alias": ["192.0.2.2","2001:db8::1","192.0.2.1"],"if": "if-1","netmask": "255.255.255.0","carppeer": "224.0.0.18",' +
      '"type": "1","key-1": "text-1","key-2": {"key-3": ["text-2",null,true,0]}},"interface-2": {"state_current": "MASTER",' +
      '"vhid": "2","vip": "192.0.2.1","priority": 204,"advskew": "50","alias": ["192.0.2.2","2001:db8::1","192.0.2.1"],' +
      '"if": "if-1","netmask": "255.255.255.0","carppeer": "192.0.2.3/24","type": "1","key-1": "text-1"}}',
  ],
  [
    "values that cannot be read, as such",
    "vrrp",
    '{"a": {"state_current": " MASTER", "vhid": "256", "vip": 3232235777, "priority": 1.5, "advskew": "low", "alias": "10.0.0.1", "if": [], "netmask": "255.0.255.0", "type": 3}}',
    '{"interface-1": {"state_current": "text-1","vhid": "out of range","vip": 0,"priority": "out of range","advskew": "text-2",' +
      '"alias": "text-3","if": [],"netmask": "text-4","type": "out of range"}}',
  ],
  [
    "the place of a repeated key",
    "vrrp",
    String.raw`{"a": {"vip": "10.0.0.1", "v\u0069p": "10.0.0.2", "x": 1, "x": 2, "x": 3}, "a": {"y": [], "y": {}, "vip": "10.0.0.3"}}`,
    '{"interface-1": null,"interface-1": null,"interface-1": null,"interface-1": {"key-1": null,"key-1": {},"vip": null,"vip": "192.0.2.1"}}',
  ],
  ["no interfaces", "vrrp", "null", "null"],
  [
    "known members where they are not expected",
    "vrrp",
    '[{"name": "carp0", "vip": "10.0.0.1"}, {"data": [{"vhid": 3}]}]',
    '[{"key-1": "text-1","vip": "192.0.2.1"},{"key-2": [{"vhid": 3}]}]',
  ],
  ["a text in place of an object", "vrrp", '"denied for 10.0.0.1"', '"text-1"'],
  ["markup as a word", "vrrp", "\u{FEFF} <title>waf-ams-1</title>", "<html>"],
  ["text as a word", "vrrp", "no such user: monitor", "text"],
  ["nothing", "vrrp", " \n", ""],
  ["deep nesting without what it holds", "vrrp", `${'{"a":'.repeat(9)}1`, "[[[[[[[[["],
  [
    "ids, and what is none",
    "website_list",
    '["7", 12, " 3 ", "007", "1e3", 99999999999, {"id": "7"}]',
    '["7",12,"3","out of range","text-1","out of range",{"key-1": "text-2"}]',
  ],
  [
    "a website",
    "website_details",
    JSON.stringify({
      id: "2",
      name: "shop",
      status: "1",
      mode: 2,
      bind: ["10.0.0.1", "*", "10.0.0.0/8", "10.0.0.0/129", ""],
      vhost: { proto: " both", name: "shop.example.org", port: "4433", port2: "70000", as: "x" },
      rhost: [
        ["both", "10.0.0.1", " +08080", "1", "0", "443", "secret"],
        ["ftp", "shop.example.org", 8080, "2"],
        "10.0.0.1",
      ],
      license: { id: 4155551234 },
    }),
    '{"id": "text-1","name": "site-1","status": "1","mode": "out of range","bind": ["192.0.2.1","*","192.0.2.2/8","host-1",""],' +
      '"vhost": {"proto": "both","name": "host-2","port": "4433","port2": "out of range","key-1": "text-2"},' +
      '"rhost": [["both","192.0.2.1","8080","1","0","443","text-3"],["text-4","host-2",8080,"2"],"text-5"],"key-2": {"id": 0}}',
  ],
  [
    "markers, status codes, names of headers, and why a website did not answer",
    "website_test",
    JSON.stringify(
      "for shop\nHTTP CONNECT ----- HTTP\r\nHTTP/1.1 100 Continue\r\nHTTP/1.0 301 Moved by Mallory\r\nLocation: https://shop.example.org/\r\n" +
        "X-Served-By: web7\r\nset-cookie: a=b\r\nServer: https://shop.example.org/\r\n\r\nHTTPS CONNECT\n---\nFailed to connect to web7: Connection REFUSED, refused\n",
    ),
    `"HTTP CONNECT ${RULE} HTTP\\nHTTP/1.1 100\\nHTTP/1.1 301\\nLocation: text-1\\nset-cookie: text-2\\nServer: text-1\\n` +
      `HTTPS CONNECT ${RULE}\\nrefused"`,
  ],
  [
    "a folded text",
    "website_test",
    JSON.stringify(
      "HTTP CONNECT --- HTTP HTTP/1.1 200 Connection Established HTTP/1.1 42 Server: web7 HTTP CONNECT --- HTTPS web7 is unwell",
    ),
    `"HTTP CONNECT ${RULE} HTTP HTTP/1.1 200 Connection established HTTP/1.1 0 HTTP CONNECT ${RULE} HTTPS text-1"`,
  ],
  ["a text without a marker", "website_test", '"web7 is unwell"', '"text-1"'],
  ["a test that is no text", "website_test", '{"web7": 200}', '{"key-1": 0}'],
])("keeps %s", (_, kind, body, expected) => {
  expect(recorded(kind, body)).toBe(expected);
});

test("equal names and addresses of several answers are replaced by equal ones, in all spellings of an address", () => {
  const number = createNumbering();
  expect(recorded("vrrp", '{"a": {"vip": "2001:DB8:7::0:1"}, "b": {"vip": "web7"}}', number)).toBe(
    '{"interface-1": {"vip": "2001:db8::1"},"interface-2": {"vip": "host-1"}}',
  );
  expect(recorded("website_details", '{"bind": ["web7", "2001:db8:7::1", "2001:db8:7::2"]}', number)).toBe(
    '{"bind": ["host-1","2001:db8::1","2001:db8::2"]}',
  );
});

test("IPv6 addresses beyond 65,535 have another group of digits", () => {
  const body = Buffer.from('{"bind": ["2001:db8::7"]}');
  const text = anonymizeBody(body, MANAGEMENT_API.operations.website_details.anonymize, () => 0x1_2345);
  expect(JSON.parse(text)).toEqual({ bind: ["2001:db8::1:2345"] });
});

test("a long body is not indented, so that it stays within the limit of its operation", () => {
  const body = JSON.stringify(Array.from({ length: 4096 }, (_, nth) => String(nth + 1)));
  expect(
    anonymizeBody(Buffer.from(body), MANAGEMENT_API.operations.website_list.anonymize, createNumbering()),
  ).toBe(body);
});

test("more addresses than there are for documentation become host names", () => {
  const bind = Array.from({ length: 764 }, (_, nth) => `10.9.${nth >> 8}.${nth & 255}`);
  const text = recorded("website_details", JSON.stringify({ bind }));
  const written: unknown = JSON.parse(text);
  expect(written).toMatchObject({
    bind: expect.arrayContaining(["192.0.2.254", "198.51.100.1", "203.0.113.254", "host-1", "host-2"]),
  });
  expect(new Set(text.match(/"[^"]+"/g)).size).toBe(765);
});
