import { expect, test } from "vitest";
import { anonymizeBody, createNumbering } from "../../../src/exporter/api/anonymize.ts";
import { OPNSENSE } from "../../../src/exporter/api/opnsense.ts";
import type { VrrpList } from "../../../src/exporter/api/vrrp.ts";

const { decode, anonymize, limitBytes } = OPNSENSE.operations.vrrp;

/** An answer to a request without credentials. */
const asIs = (text: string): string => text;

const LAN = {
  interface: "LAN",
  vhid: "1",
  advbase: "1",
  advskew: "0",
  subnet: "192.0.2.1",
  status: "MASTER",
  mode: "carp",
  status_txt: "HAUPT",
  vhid_txt: "1 (freq. 1/0)",
};
const ALIAS = { interface: "LAN", vhid: "1", subnet: "192.0.2.9", status: "MASTER", mode: "ipalias" };
const CARP = { demotion: "0", allow: "1", maintenancemode: false, status_msg: "" };

const DECODED = {
  name: "LAN/1",
  state: "MASTER",
  vhid: 1,
  vip: "192.0.2.1",
  priority: 254,
  isOutOfOrder: false,
  advskew: 0,
  aliases: [],
  device: "LAN",
  netmask: "",
  peer: "",
  configuredRole: undefined,
};

function decoded(answer: unknown): VrrpList {
  const outcome = decode(Buffer.from(JSON.stringify(answer)), asIs);
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}

function recordingOf(answer: unknown): unknown {
  return JSON.parse(anonymizeBody(Buffer.from(JSON.stringify(answer)), anonymize, createNumbering()));
}

function answerOf(rows: readonly unknown[], carp: unknown = CARP): unknown {
  return { total: rows.length, rowCount: rows.length, current: 1, rows, carp };
}

const NOTHING_ODD = { unreadable: [], anomalies: [], hasUnnamed: false };

test.each([
  ["strings", LAN, CARP],
  [
    "numbers",
    { ...LAN, vhid: 1, advbase: 1, advskew: 0 },
    { demotion: 0, allow: 1, maintenancemode: false, status_msg: "" },
  ],
])("reads a VHID and its alias from %s", (_, row, carp) => {
  expect(decoded(answerOf([row, ALIAS], carp))).toEqual({
    ...NOTHING_ODD,
    interfaces: [{ ...DECODED, aliases: ["192.0.2.9"] }],
    demotion: 0,
    restraint: undefined,
  });
});

test.each([[[]], [null], [undefined], [{}]])(
  "where carp is %j, the demotion is not known, and so neither is the priority",
  (carp) => {
    expect(decoded({ rows: [LAN], carp })).toEqual({
      ...NOTHING_ODD,
      interfaces: [{ ...DECODED, priority: undefined, isOutOfOrder: true }],
      demotion: undefined,
      restraint: undefined,
    });
  },
);

test.each([
  ["a demotion", LAN, { ...CARP, demotion: "240" }, undefined, 240],
  ["a negative demotion", LAN, { ...CARP, demotion: -540 }, undefined, -540],
  ["another interval of advertisements", { ...LAN, advbase: "20" }, CARP, undefined, 0],
  ["the highest skew", { ...LAN, advskew: 254 }, CARP, 0, 0],
  ["no interval", { ...LAN, advbase: undefined }, CARP, 254, 0],
])("with %s, the priority is known only if it shows the order", (_, row, carp, priority, demotion) => {
  const list = decoded(answerOf([row], carp));
  expect(list).toMatchObject({ demotion, anomalies: [] });
  expect(list.interfaces[0]?.priority).toBe(priority);
  expect(list.interfaces[0]?.isOutOfOrder).toBe(priority === undefined);
});

test.each([
  [{ ...CARP, maintenancemode: true }, "maintenance_mode"],
  [{ ...CARP, maintenancemode: "1" }, "maintenance_mode"],
  [{ ...CARP, allow: "0" }, "carp_disabled"],
  [{ ...CARP, allow: false }, "carp_disabled"],
  [{ ...CARP, allow: true, maintenancemode: 0 }, undefined],
])("%j takes nothing over because of %s", (carp, restraint) => {
  expect(decoded(answerOf([LAN], carp))).toMatchObject({ restraint, anomalies: [] });
});

test.each(["MASTER", "BACKUP", "INIT", "DISABLED"])("%s is a known state", (status) => {
  expect(decoded(answerOf([{ ...LAN, status }]))).toMatchObject({
    interfaces: [{ state: status }],
    anomalies: [],
  });
});

test("one VHID on two interfaces is two interfaces, and several addresses of one VHID are one", () => {
  const wan = { ...LAN, interface: "WAN", subnet: "198.51.100.1", status: "BACKUP" };
  const ipv6 = { ...LAN, subnet: "2001:db8::1" };
  expect(decoded(answerOf([ALIAS, LAN, wan, ipv6]))).toMatchObject({
    interfaces: [
      { name: "LAN/1", state: "MASTER", vip: "192.0.2.1", aliases: ["2001:db8::1", "192.0.2.9"] },
      { name: "WAN/1", state: "BACKUP", vip: "198.51.100.1", aliases: [] },
    ],
    ...NOTHING_ODD,
  });
});

test.each<readonly [string, readonly unknown[], unknown]>([
  ["CARP is disabled", [{ ...LAN, status: "DISABLED" }], { ...CARP, allow: "0" }],
  ["no VHID is configured", [], []],
  ["one of two VHIDs is DISABLED", [LAN, { ...LAN, vhid: "2", status: "DISABLED" }], []],
])("where %s, the states are known", (_, rows, carp) => {
  expect(decoded({ rows, carp })).toMatchObject(NOTHING_ODD);
  expect(decoded({ rows, carp }).interfaces).toHaveLength(rows.length);
});

test.each([
  ["lan", "LAN"],
  ["wan", "WAN"],
  ["opt12", "OPT12"],
  ["LAN", "LAN"],
  ["dmz", "dmz"],
  ["lan2", "lan2"],
])("%s is the device %s, also in a recording", (name, device) => {
  const rows = [{ ...LAN, interface: name }];
  expect(decoded(answerOf(rows)).interfaces).toMatchObject([{ name: `${device}/1`, device }]);
  const both = answerOf([...rows, { ...LAN, interface: device, status: "DISABLED" }]);
  expect(recordingOf(both)).toMatchObject({ rows: [{ interface: "if-1" }, { interface: "if-1" }] });
});

const NAMED = { interfaces: [], unreadable: ["LAN/1"], hasUnnamed: false, anomalies: ["bad_interface"] };
const UNNAMED = { interfaces: [], unreadable: [], hasUnnamed: true, anomalies: ["bad_interface"] };

test.each<readonly [string, readonly unknown[], object]>([
  ["a row without a vhid", [{ ...LAN, vhid: undefined }], UNNAMED],
  ["a vhid out of range", [{ ...LAN, vhid: 256 }], UNNAMED],
  ["a row without an interface", [{ ...LAN, interface: "" }], UNNAMED],
  ["a row that is no object", ["LAN"], UNNAMED],
  ["an alias of a vhid that cannot be read", [{ ...ALIAS, vhid: "x" }], UNNAMED],
  ["a row without a state", [{ ...LAN, status: null }, ALIAS], NAMED],
  ["a state that is no text", [{ ...LAN, status: 1 }], NAMED],
  ["a row without an address", [{ ...LAN, subnet: "" }], NAMED],
  ["an alias alone", [ALIAS], NAMED],
  ["another mode with a vhid", [LAN, { ...ALIAS, mode: "other" }], NAMED],
  ["two states of one VHID", [LAN, { ...LAN, subnet: "192.0.2.2", status: "BACKUP" }], NAMED],
  [
    "addresses beside CARP",
    [
      { ...ALIAS, vhid: "" },
      { ...ALIAS, vhid: undefined, mode: "proxyarp" },
    ],
    { interfaces: [], ...NOTHING_ODD },
  ],
  [
    "an unknown word",
    [{ ...LAN, status: "WAITING" }],
    { interfaces: [{ state: "WAITING" }], anomalies: ["unknown_state"] },
  ],
  [
    "what is no address",
    [{ ...LAN, subnet: "lan" }],
    { interfaces: [{ vip: "lan" }], anomalies: ["bad_field"] },
  ],
  [
    "an unreadable skew",
    [{ ...LAN, advskew: 255 }],
    { interfaces: [{ priority: undefined, advskew: undefined }], anomalies: ["bad_field"] },
  ],
  [
    "an alias without an address",
    [LAN, { ...ALIAS, subnet: 1.5e300 }, { ...ALIAS, subnet: null }],
    { interfaces: [{ aliases: undefined }], anomalies: ["bad_field"] },
  ],
])("%s is reported, and no state is invented", (_, rows, expected) => {
  expect(decoded(answerOf(rows))).toMatchObject(expected);
});

test.each([
  ["carp that is no object", "off", ["bad_field"]],
  ["a demotion that is no number", { ...CARP, demotion: "much" }, ["bad_field"]],
  ["switches that are none", { ...CARP, allow: "maybe", maintenancemode: 2 }, ["bad_field", "bad_field"]],
])("%s is an anomaly and shows nothing", (_, carp, anomalies) => {
  expect(decoded(answerOf([LAN], carp))).toMatchObject({ anomalies, restraint: undefined });
});

test.each<readonly [string, string, string, string]>([
  ["HTML of a login page", "<!doctype html><title>Login</title>", "decode", "got markup"],
  ["nothing", "", "decode", "got nothing"],
  ["a list", "[]", "decode", "got an array"],
  ["no rows", "{}", "decode", "got an object"],
  ["rows that are no list", '{"rows":"none"}', "decode", "got an object"],
  ...[[], null, undefined, {}].map(
    (carp) =>
      [
        `DISABLED everywhere, with carp ${JSON.stringify(carp)},`,
        JSON.stringify({ rows: [LAN, ALIAS].map((row) => ({ ...row, status: "DISABLED" })), carp }),
        "decode",
        "expected the state of CARP, got DISABLED for all and nothing of CARP",
      ] as const,
  ),
  [
    "4,097 rows",
    JSON.stringify(answerOf(Array.from({ length: 4097 }, () => LAN))),
    "too_large",
    "at most 4096 rows",
  ],
  [
    "1,025 VHIDs",
    JSON.stringify(
      answerOf(Array.from({ length: 1025 }, (__, nth) => ({ ...LAN, interface: `vlan${nth}` }))),
    ),
    "too_large",
    "at most 1024 VHIDs",
  ],
])("%s is a failure", (_, body, reason, words) => {
  expect(decode(Buffer.from(body), asIs)).toMatchObject({
    ok: false,
    failure: { reason, message: expect.stringContaining(words) },
  });
});

test("as many rows as are allowed fit into an answer", () => {
  const rows = Array.from({ length: 4096 }, (_, nth) => ({
    ...(nth < 1024 ? LAN : ALIAS),
    interface: `vlan${nth % 1024}`,
    subnet: `2001:db8::${nth.toString(16)}`,
  }));
  const body = JSON.stringify(answerOf(rows));
  expect(body.length).toBeLessThan(limitBytes);
  expect(decoded(answerOf(rows)).interfaces).toHaveLength(1024);
});

const redact = (text: string): string => text.replaceAll("hunter2", "<secret>");

test("texts are redacted, and two names that are equal then are not taken for one", () => {
  const rows = [
    { ...LAN, interface: "hunter2" },
    { ...LAN, interface: "<secret>", status: "BACKUP" },
  ];
  const outcome = decode(Buffer.from(JSON.stringify(answerOf(rows))), redact);
  expect(JSON.stringify(outcome)).not.toContain("hunter2");
  expect(outcome).toMatchObject({
    ok: true,
    value: { interfaces: [{ name: "<secret>/1", state: "MASTER" }], anomalies: ["bad_interface"] },
  });
});

test("what is recorded keeps the shape, the numbers and the states, and no name", () => {
  const answer = answerOf([LAN, { ...ALIAS, subnet: "10.1.2.3" }], {
    ...CARP,
    status_msg: "<b>fw1.corp.example</b>",
  });
  expect(recordingOf(answer)).toEqual({
    total: 0,
    rowCount: 0,
    current: 0,
    rows: [
      {
        ...LAN,
        interface: "if-1",
        status_txt: "text-1",
        vhid_txt: "text-2",
      },
      { ...ALIAS, interface: "if-1", subnet: "192.0.2.2" },
    ],
    carp: { ...CARP, status_msg: "text-3" },
  });
});

test.each([" carp ", "ipalias ", "proxyarp"])(
  "a mode that is none, %j, is none in a recording either",
  (mode) => {
    const answer = answerOf([LAN, { ...LAN, subnet: "192.0.2.2", mode }]);
    for (const each of [answer, recordingOf(answer)])
      expect(decoded(each)).toMatchObject({ interfaces: [], anomalies: ["bad_interface"] });
  },
);
