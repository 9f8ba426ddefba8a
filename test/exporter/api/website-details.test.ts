import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeWebsiteDetails, type LocalWebsiteDetails } from "../../../src/appliance/encode.ts";
import {
  decodeWebsiteDetails,
  gathered,
  type WebsiteDetails,
} from "../../../src/exporter/api/website-details.ts";

const AS_IS = (text: string): string => text;

function decoded(value: unknown): WebsiteDetails {
  const result = decodeWebsiteDetails(Buffer.from(JSON.stringify(value)), AS_IS);
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

const SAMPLE = {
  bind: ["192.0.2.10"],
  deployment: "1",
  id: "2",
  mirror_of: "0",
  mode: "1",
  name: "shop",
  status: "1",
  rhost: [
    ["both", "192.0.2.81", "8080", "1", "1", "4433"],
    ["both", "web2.example.org", "8080", "2", "0", "4433"],
  ],
  sec: { ts: "1" },
  vhost: {
    as: "",
    name: "shop.example.org",
    port: "4433",
    port2: "8080",
    proto: "both",
    proxy_protocol_enabled: "0",
  },
};

const SHOP: WebsiteDetails = {
  name: "shop",
  host: "shop.example.org",
  port: 4433,
  secondPort: 8080,
  protocol: "both",
  mode: "protect",
  isEnabled: true,
  bind: ["192.0.2.10"],
  backends: gathered([
    { address: "192.0.2.81:8080", role: "active", isOk: true },
    { address: "web2.example.org:8080", role: "backup", isOk: false },
  ]),
  invalid: [],
};

test("reads the sample of the specification", () => {
  expect(decoded(SAMPLE)).toEqual(SHOP);
});

test("reads numbers in place of strings, and ignores members that it does not know", () => {
  const vhost = { ...SAMPLE.vhost, port: 4433, port2: 8080 };
  const numbers = { mode: 1, status: 1, rhost: [["http", "192.0.2.81", 8080, 1, 1], SAMPLE.rhost[1]] };
  expect(decoded({ ...SAMPLE, ...numbers, vhost, denylog: { secret: "x" } })).toEqual(SHOP);
});

const UNKNOWN: WebsiteDetails = {
  name: "",
  host: "",
  port: undefined,
  secondPort: undefined,
  protocol: undefined,
  mode: undefined,
  isEnabled: undefined,
  bind: undefined,
  backends: undefined,
  invalid: [],
};

test.each([
  ["missing", {}],
  ["empty", { bind: "", mode: "", name: "", rhost: "", status: "", vhost: "" }],
  ["null", { bind: null, mode: null, name: null, rhost: null, status: null, vhost: null }],
])("members that are %s are not known, and no deviation", (_, value) => {
  expect(decoded(value)).toEqual(UNKNOWN);
});

test("members that cannot be read lose what is made of them and nothing else", () => {
  const rhost = [
    ["http", "", "80", "1", "1"],
    "row",
    ["http", "2001:db8::1", "0", "4", "2"],
    ["http", "2001:db8::2", "443", "3", "1"],
  ];
  const value = {
    ...SAMPLE,
    mode: "2",
    status: "on",
    bind: 7,
    rhost,
    vhost: { ...SAMPLE.vhost, port: "99999" },
  };
  expect(decoded(value)).toEqual({
    ...SHOP,
    port: undefined,
    mode: undefined,
    isEnabled: undefined,
    bind: undefined,
    backends: {
      shown: [
        { address: "2001:db8::1", role: undefined, isOk: undefined },
        { address: "[2001:db8::2]:443", role: "down", isOk: true },
      ],
      leftOut: 0,
      usable: 0,
      failed: 0,
      // Two rows have no host.
      uncertain: 3,
      digest: undefined,
    },
    invalid: [
      "$.vhost.port",
      "$.mode",
      "$.status",
      "$.bind",
      "$.rhost[0][1]",
      "$.rhost[1][1]",
      "$.rhost[2][2]",
      "$.rhost[2][3]",
      "$.rhost[2][4]",
    ],
  });
});

test.each([[[]], [{}]])("%j in place of the servers is no server", (rhost) => {
  expect(decoded({ ...SAMPLE, rhost }).backends).toMatchObject({ shown: [], usable: 0, uncertain: 0 });
});

test("a key that occurs twice is a deviation, and the last one counts", () => {
  const body = Buffer.from('{"name":"a","name":"b","vhost":{"port":"1","port":"2"}}');
  expect(decodeWebsiteDetails(body, AS_IS)).toMatchObject({
    value: { name: "b", port: 2, invalid: ["$..name", "$..port"] },
  });
});

test.each([
  ["[]", "decode", "expected an object, got an array"],
  ['"shop"', "decode", "expected an object, got a string"],
  ["<html>", "decode", "expected JSON, got markup"],
  [`{"rhost":[${"[],".repeat(1024)}[]]}`, "too_large", "expected at most 1024 servers and addresses"],
  [`{"bind":[${'"",'.repeat(1024)}""]}`, "too_large", "expected at most 1024 servers and addresses"],
])("%.20s is no website", (text, reason, message) => {
  const result = decodeWebsiteDetails(Buffer.from(text), AS_IS);
  expect(result).toEqual({ ok: false, failure: { reason, message: `$: ${message}` } });
});

const redact = (text: string): string => text.replaceAll("hunter2", "<secret>");

test("texts are redacted and cut", () => {
  const body = { ...SAMPLE, name: "hunter2", vhost: { ...SAMPLE.vhost, name: "x".repeat(300) } };
  const result = decodeWebsiteDetails(Buffer.from(JSON.stringify(body)), redact);
  expect(result).toMatchObject({
    value: { name: "<secret>", host: expect.stringMatching(/^x{256}~[0-9a-f]{16}$/) },
  });
});

const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/);
const port = fc.integer({ min: 1, max: 65_535 });
const local: fc.Arbitrary<LocalWebsiteDetails> = fc.record({
  id: fc.integer({ min: 1, max: 4096 }),
  name: fc.string({ minLength: 1 }),
  host: name,
  port,
  secondPort: port,
  protocol: fc.constantFrom("http", "https", "both"),
  mode: fc.constantFrom("pass", "protect", "detect"),
  isEnabled: fc.boolean(),
  bind: fc.array(fc.constantFrom("*", "192.0.2.1"), { minLength: 1, maxLength: 2 }),
  backends: fc.array(
    fc.record({
      protocol: fc.constantFrom("http", "https", "both"),
      host: name,
      port,
      role: fc.constantFrom("active", "backup", "down"),
      isOk: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
});

test("reads what it writes, without a deviation", () => {
  fc.assert(
    fc.property(local, (website) => {
      const { id: _, backends, secondPort, ...known } = website;
      const body = Buffer.from(encodeWebsiteDetails(website));
      expect(decodeWebsiteDetails(body, AS_IS)).toEqual({
        ok: true,
        value: {
          ...known,
          secondPort: known.protocol === "both" ? secondPort : undefined,
          backends: gathered(
            backends.map(({ host, port: at, role, isOk }) => ({ address: `${host}:${at}`, role, isOk })),
          ),
          invalid: [],
        },
      });
    }),
  );
});

test("never throws on any object, and a status is only OK or failed if it says so", () => {
  const cell = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom("0", "1", "2", 0, 1, " 1", "__proto__"),
  );
  fc.assert(
    fc.property(fc.array(fc.array(cell, { maxLength: 6 })), cell, cell, (rhost, status, vhost) => {
      const { shown = [] } = decoded({ rhost, status, vhost }).backends ?? {};
      for (const { isOk } of shown.filter((each) => each.isOk !== undefined))
        expect(typeof isOk).toBe("boolean");
      expect(shown.length).toBeLessThanOrEqual(rhost.length);
    }),
  );
});

const server = fc.record({
  address: fc.constantFrom("a:80", "A:80", "b:80", "c:443"),
  role: fc.constantFrom("active", "backup", "down", undefined),
  isOk: fc.constantFrom(true, false, undefined),
} as const);

test("of many servers 32 are shown, those in service with an error first; all are counted", () => {
  fc.assert(
    fc.property(fc.array(fc.option(server, { nil: undefined }), { maxLength: 80 }), (all) => {
      const known = all.filter((each) => each !== undefined);
      const inService = known.filter(({ role }) => role === "active" || role === "backup");
      const failed = inService.filter(({ isOk }) => isOk === false);
      const found = gathered(all);
      expect(found?.shown.slice(0, failed.length)).toEqual(failed.slice(0, 32));
      expect(found?.shown).toHaveLength(Math.min(32, known.length));
      expect(known).toEqual(expect.arrayContaining([...(found?.shown ?? [])]));
      expect(found).toMatchObject({
        leftOut: Math.max(0, known.length - 32),
        usable: inService.filter(({ isOk }) => isOk === true).length,
        failed: failed.length,
      });
    }),
  );
});

function digestOf(...addresses: readonly string[]): string | undefined {
  return gathered(addresses.map((address) => ({ address, role: "active", isOk: true })))?.digest;
}

test("servers are the same by their addresses, in any order, case and number", () => {
  expect(digestOf("b:80", "A:80", "a:80")).toBe(digestOf("a:80", "B:80"));
  expect(digestOf("a:80")).not.toBe(digestOf("a:80", "b:80"));
  expect(digestOf("a:80,b:80")).not.toBe(digestOf("a:80", "b:80"));
});

test("addresses are in canonical text", () => {
  expect(decoded({ ...SAMPLE, bind: ["2001:DB8:0::7", "*"] }).bind).toEqual(["2001:db8::7", "*"]);
});

test.each([
  [[], ["$.bind"]],
  [{}, ["$.bind"]],
  [["192.0.2.1", "web"], ["$.bind[1]"]],
  [["192.0.2.1", ["192.0.2.2"]], ["$.bind[1]"]],
  [["192.0.2.1", ""], []],
])("the addresses are not known if one of them, or none, can be read: %j", (bind, invalid) => {
  expect(decoded({ ...SAMPLE, bind })).toMatchObject({ bind: undefined, invalid });
});

test("more than 64 addresses are not known, and of what cannot be read 64 places are named", () => {
  const bind = Array.from({ length: 65 }, (_, nth) => `192.0.2.${nth}`);
  expect(decoded({ ...SAMPLE, bind })).toMatchObject({ bind: undefined, invalid: [] });
  expect(decoded({ ...SAMPLE, bind: bind.slice(1) }).bind).toEqual(bind.slice(1));
  const rhost = Array.from({ length: 100 }, () => ["http", "", "80", "1", "1"]);
  expect(decoded({ ...SAMPLE, rhost }).invalid).toHaveLength(64);
});
