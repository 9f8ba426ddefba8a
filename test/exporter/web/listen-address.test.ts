import { expect, test } from "vitest";
import { formatAddress, parseListenAddress } from "../../../src/exporter/web/listen.ts";

test.each([
  [":10849", { host: undefined, port: 10_849 }],
  ["127.0.0.1:10849", { host: "127.0.0.1", port: 10_849 }],
  ["[::1]:10849", { host: "::1", port: 10_849 }],
  ["[::]:10849", { host: "::", port: 10_849 }],
  ["[::ffff:192.0.2.1]:1", { host: "::ffff:192.0.2.1", port: 1 }],
  ["localhost:10849", { host: "localhost", port: 10_849 }],
  ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
  [":65535", { host: undefined, port: 65_535 }],
])("%s is valid", (text, address) => {
  expect(parseListenAddress(text)).toEqual(address);
});

test.each([
  "",
  ":",
  "10849",
  "localhost",
  "localhost:http",
  "::1:10849",
  "[::1]",
  "[abc]:10849",
  ":65536",
  "a b:80",
  "http://localhost:80",
  ":80\n",
])("%j is not a valid listen address", (text) => {
  expect(parseListenAddress(text)).toBeUndefined();
});

test("an address is formatted as in a URL", () => {
  expect(formatAddress({ host: "127.0.0.1", port: 80 })).toBe("127.0.0.1:80");
  expect(formatAddress({ host: "::1", port: 80 })).toBe("[::1]:80");
  expect(formatAddress({ host: undefined, port: 80 })).toBe(":80");
});
