import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anonymizeBody, createNumbering } from "../../../src/exporter/api/anonymize.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import { MANAGEMENT_API } from "../../../src/exporter/api/management-api.ts";
import type { OperationKind } from "../../../src/exporter/api/operation.ts";
import { isRecordedBody } from "../../support/recorded-grammar.ts";

const asIs = (value: string): string => value;

const CANARIES = [
  "hunter2-c4n4ry",
  "waf-ams-1.corp.example",
  "10.20.30.40",
  "fd12:3456::7",
  "Basic bW9uaXRvcjpodW50ZXIyLWM0bjRyeQ==",
  "MASTER hunter2-c4n4ry",
];

/** The words and keys that an answer may have, so that few of them are only random. */
const VRRP_KEYS = "state_current vhid vip priority advskew alias if netmask carppeer type".split(" ");
const WORDS = [
  ...VRRP_KEYS,
  ..."id name status mode bind vhost rhost proto port port2 __proto__".split(" "),
  ..."MASTER BACKUP http both * 255.255.255.0 224.0.0.18 10.1.1.1/24 01 -0".split(" "),
  ..."text-1 key-2 if-1 interface-3 192.0.2.9 2001:db8::9 host-2".split(" "),
  "",
  " 1 ",
  "out of range",
];

const text = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom(...CANARIES),
  fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...CANARIES)).map((parts) => parts.join("")),
  fc.integer({ min: -2, max: 70_000 }).map(String),
  fc.string({ unit: "binary" }),
);
const scalar = fc.oneof(
  text,
  fc.integer({ min: -2, max: 300 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const key = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...WORDS) }, { weight: 1, arbitrary: text });

/** JSON of up to nine levels whose objects repeat keys. */
const json = fc.letrec<{ readonly value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 9, depthSize: "medium" },
    scalar.map((value) => JSON.stringify(value)),
    fc.array(tie("value"), { maxLength: 6 }).map((items) => `[${items.join(",")}]`),
    fc
      .array(fc.tuple(key, tie("value")), { maxLength: 6 })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`),
  ),
})).value;

const field = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
function recordOf(...keys: readonly string[]) {
  return fc.record(Object.fromEntries(keys.map((each) => [each, field])), { requiredKeys: [] });
}

const vrrp = fc.dictionary(
  text,
  fc.record(
    {
      ...Object.fromEntries(VRRP_KEYS.map((each) => [each, field])),
      state_current: fc.oneof(fc.constantFrom("MASTER", "BACKUP"), scalar),
      vhid: fc.oneof(fc.integer({ min: 0, max: 255 }), scalar),
      vip: fc.oneof(fc.ipV4(), fc.ipV6(), scalar),
    },
    { requiredKeys: ["state_current", "vhid", "vip"] },
  ),
  { maxKeys: 4 },
);
const details = fc
  .tuple(
    recordOf("id", "name", "status", "mode", "bind"),
    recordOf("name", "port", "port2", "proto"),
    fc.array(fc.array(field, { maxLength: 7 })),
  )
  .map(([website, vhost, rhost]) => ({ ...website, vhost, rhost }));

const fragment = fc.oneof(
  fc.constantFrom("HTTP CONNECT ---", "HTTPS CONNECT ----", " HTTP", " HTTPS", "\n", "\r\n", " ", ":", "-"),
  fc.constantFrom(
    "HTTP/1.1 200 OK",
    "HTTP/1.1 100",
    "HTTP/2 301",
    "HTTP/1.1 4000",
    "HTTP/1.1 200 Connection established",
  ),
  fc.constantFrom("Location: ", "server:", "Set-Cookie: a", "X-Served-By: ", "timed out", "Refused"),
  text,
);
const websiteTest = fc.array(fragment, { maxLength: 20 }).map((parts) => parts.join(""));

const body = fc.oneof(
  json,
  fc.oneof(vrrp, details, fc.array(scalar), websiteTest).map((value) => JSON.stringify(value)),
  websiteTest.map((value) => JSON.stringify(`HTTP CONNECT --- HTTP${value}`)),
  fc.oneof(text, fc.constantFrom("<html>", "")),
);

const KINDS: readonly OperationKind[] = ["vrrp", "website_list", "website_details", "website_test"];

const RUNS = { numRuns: 500 };

test("nothing of an answer is recorded but booleans, numbers of the API's ranges, words of closed sets and numbered names", () => {
  fc.assert(
    fc.property(body, fc.constantFrom(...KINDS), (answer, kind) => {
      const { anonymize } = MANAGEMENT_API.operations[kind];
      const recorded = anonymizeBody(Buffer.from(answer), anonymize, createNumbering());
      expect(isRecordedBody(recorded)).toBe(true);
      expect(CANARIES.filter((canary) => recorded.includes(canary))).toEqual([]);
      // A replay is recorded as the answer itself was.
      expect(anonymizeBody(Buffer.from(recorded), anonymize, createNumbering())).toBe(recorded);
    }),
    RUNS,
  );
});

/** Names and addresses of what is decoded, and lists of them. */
const NAMES = new Set(["name", "vip", "device", "netmask", "peer", "host", "address", "text", "digest"]);
const LISTS = new Set(["unreadable", "aliases", "bind"]);

/** What was decoded, without names and addresses. */
function outcomeOf(decoded: Outcome<unknown>): string {
  return JSON.stringify(decoded, (name, value: unknown) => {
    if (LISTS.has(name) && Array.isArray(value)) return value.length;
    if (name === "invalid" && Array.isArray(value))
      return [...new Set(value.map((path) => String(path).replace(/\$\.\..*/s, "$..key")))];
    if (name === "state" && value !== "MASTER" && value !== "BACKUP") return "other";
    return NAMES.has(name) ? typeof value : value;
  });
}

test("what is recorded decodes as the answer did, up to names and addresses", () => {
  fc.assert(
    fc.property(body, fc.constantFrom(...KINDS), (answer, kind) => {
      const { anonymize, decode } = MANAGEMENT_API.operations[kind];
      const recorded = anonymizeBody(Buffer.from(answer), anonymize, createNumbering());
      expect(outcomeOf(decode(Buffer.from(recorded), asIs))).toBe(
        outcomeOf(decode(Buffer.from(answer), asIs)),
      );
    }),
    RUNS,
  );
});

/** Ids of each length are as likely. */
const websiteId = fc
  .integer({ min: 0, max: 9 })
  .chain((zeros) => fc.integer({ min: 10 ** zeros, max: 10 ** (zeros + 1) - 1 }));

/** What is recorded of an answer that is this value as JSON. */
function recordedAs(kind: OperationKind, value: unknown): unknown {
  const answer = Buffer.from(JSON.stringify(value));
  return JSON.parse(anonymizeBody(answer, MANAGEMENT_API.operations[kind].anonymize, createNumbering()));
}

test("the id of a website is recorded in the list, whatever its length, and nowhere else", () => {
  fc.assert(
    fc.property(websiteId, (id) => {
      const digits = String(id);
      expect(recordedAs("website_list", [id, digits, ` ${digits} `])).toEqual([id, digits, digits]);
      expect(recordedAs("website_list", [`0${digits}`, -id])).toEqual(["out of range", "out of range"]);
      expect(recordedAs("website_list", { [digits]: id })).toEqual({ "key-1": 0 });
      expect(recordedAs("website_details", { id: digits, name: digits, [digits]: id })).toEqual({
        "key-1": 0,
        id: "text-1",
        name: "site-1",
      });
      expect(recordedAs("vrrp", { [digits]: { if: digits, vip: digits, note: id } })).toEqual({
        "interface-1": { if: "if-1", vip: "host-1", "key-1": 0 },
      });
    }),
    RUNS,
  );
});
