import { expect, test } from "vitest";
import { encodeVrrpList } from "../../../src/appliance/encode.ts";
import { decodeVrrpList } from "../../../src/exporter/api/vrrp-list.ts";

/** An answer to a request without credentials. */
const asIs = (text: string): string => text;

const DETAILS = {
  advskew: "50",
  alias: ["192.0.2.101", "192.0.2.102"],
  carppeer: "224.0.0.18",
  if: "eth1",
  netmask: "255.255.255.0",
  priority: "204",
  state_current: "MASTER",
  type: "1",
  vhid: "2",
  vip: "192.0.2.100",
};

const DECODED = {
  name: "carp0",
  state: "MASTER",
  vhid: 2,
  vip: "192.0.2.100",
  priority: 204,
  advskew: 50,
  aliases: ["192.0.2.101", "192.0.2.102"],
  device: "eth1",
  netmask: "255.255.255.0",
  peer: "224.0.0.18",
  configuredRole: "master",
};

function decode(value: unknown) {
  return decodeVrrpList(Buffer.from(JSON.stringify(value)), asIs);
}

/** Decodes carp0 with some fields replaced; `undefined` removes one. */
function decodeWith(fields: object) {
  return decode({ carp0: { ...DETAILS, ...fields } });
}

function listOf(fields: object, anomalies: readonly string[]) {
  return readAs([{ ...DECODED, ...fields }], [], anomalies);
}

function readAs(interfaces: readonly object[], unreadable: readonly string[], anomalies: readonly string[]) {
  return { ok: true, value: { interfaces, unreadable, anomalies } };
}

test("decodes an interface in the form of the specification", () => {
  expect(decodeWith({})).toEqual(listOf({}, []));
});

test.each([
  "fe80::1%em0",
  "fe80::1%vlan_20/64",
  "2001:db8::64/64",
  "[2001:db8::64]",
  "192.0.2.100/24",
  "192.0.2.100/255.255.255.0",
])("the address %s stays as reported, and is no anomaly", (vip) => {
  expect(decodeWith({ vip, alias: [vip] })).toEqual(listOf({ vip, aliases: [vip] }, []));
});

test.each(["vip-ams", "192.0.2.256", "192.0.2.100/33", "fe80::1%", " "])(
  "the VIP %j and an alias like it are no addresses, so each is an unreadable field of an interface that stays",
  (vip) => {
    expect(decodeWith({ vip, alias: ["192.0.2.101", vip] })).toEqual(
      listOf({ vip, aliases: ["192.0.2.101", vip] }, ["bad_field", "bad_field"]),
    );
  },
);

test("keeps the order of the answer", () => {
  const decoded = decode({ carp1: DETAILS, carp0: DETAILS, "carp 2": DETAILS });
  expect(decoded.ok && decoded.value.interfaces.map(({ name }) => name)).toEqual([
    "carp1",
    "carp0",
    "carp 2",
  ]);
});

test.each(["{}", "[]", "null", " [ ] \n", "\uFEFF{}"])("decodes %j as an empty list", (body) => {
  expect(decodeVrrpList(Buffer.from(body), asIs)).toEqual(readAs([], [], []));
});

test.each([
  ["[{}]", "expected an object of interfaces, got an array"],
  ['"carp0"', "expected an object of interfaces, got a string"],
  ["1e999", "expected an object of interfaces, got a number"],
  ["true", "expected an object of interfaces, got a boolean"],
  ["", "expected JSON, got nothing"],
  ["<html>log in</html>", "expected JSON, got markup"],
])("rejects %j, which is not a list", (body, message) => {
  const failure = { reason: "decode", message: `$: ${message}` };
  expect(decodeVrrpList(Buffer.from(body), asIs)).toEqual({ ok: false, failure });
});

/** An object with this many members. */
function times(count: number, member: unknown): object {
  return Object.fromEntries(Array.from({ length: count }, (_, nth) => [`carp${nth}`, member]));
}

test.each([
  ["1,024 interfaces", times(1024, {}), times(1025, {}), "expected at most 1024 interfaces"],
  [
    "8 levels",
    { carp0: { a: [[[[[[]]]]]] } },
    { carp0: { a: [[[[[[[]]]]]]] } },
    "expected at most 8 levels of nesting",
  ],
])("accepts %s, and not one more", (_, within, beyond, message) => {
  expect(decode(within)).toHaveProperty("ok", true);
  expect(decode(beyond)).toEqual({ ok: false, failure: { reason: "too_large", message: `$: ${message}` } });
});

test.each([
  [{ priority: 204, vhid: 2, advskew: 50 }],
  [{ priority: " 204 ", vhid: "+2\n", advskew: "0050" }],
])("reads the numbers of %j", (fields) => {
  expect(decodeWith(fields)).toEqual(listOf({}, []));
});

test("reads integers with a fraction of zero", () => {
  const body = JSON.stringify({ carp0: DETAILS }).replace('"204"', "204.0").replace('"50"', "5e1");
  expect(decodeVrrpList(Buffer.from(body), asIs)).toEqual(listOf({}, []));
});

test.each([
  ["lowest", { priority: "0", advskew: "254", vhid: "0" }, { priority: 0, advskew: 254, vhid: 0 }],
  ["highest", { priority: "255", advskew: "-1", vhid: "255" }, { priority: 255, advskew: -1, vhid: 255 }],
  ["negative zero", { priority: "-0", advskew: "254", vhid: "-0" }, { priority: 0, advskew: 254, vhid: 0 }],
])("accepts the %s numbers", (_, fields, decoded) => {
  expect(decodeWith(fields)).toEqual(listOf(decoded, []));
});

test.each([
  ["priority", undefined, null, "", "NaN", "1e2", "12.5", 12.5, "0x10", -1, 256, "9".repeat(20), [204], true],
  ["advskew", undefined, null, "", "-2", 255],
])("drops only the %s if it is unreadable", (field, ...values) => {
  for (const value of values)
    expect(decodeWith({ [field]: value })).toEqual(listOf({ [field]: undefined }, ["bad_field"]));
});

test("drops only a number that overflows", () => {
  const body = JSON.stringify({ carp0: DETAILS }).replace('"204"', "1e999");
  expect(decodeVrrpList(Buffer.from(body), asIs)).toEqual(listOf({ priority: undefined }, ["bad_field"]));
});

test("reports an advskew that does not match the priority, and keeps both", () => {
  expect(decodeWith({ advskew: "49" })).toEqual(listOf({ advskew: 49 }, ["advskew_mismatch"]));
});

test.each([undefined, null, "", [], {}, ["", ""]])("reads alias %j as no aliases", (alias) => {
  expect(decodeWith({ alias })).toEqual(listOf({ aliases: [] }, []));
});

test.each(["192.0.2.1", 0, false, ["192.0.2.1", 1], { 0: "192.0.2.1" }])(
  "reports alias %j as unreadable",
  (alias) => {
    expect(decodeWith({ alias })).toEqual(listOf({ aliases: undefined }, ["bad_field"]));
  },
);

test.each(["INIT", "FAULT"])("knows the state %s", (state) => {
  expect(decodeWith({ state_current: state })).toEqual(listOf({ state }, []));
});

test.each(["DOWN", "master", "MASTER ", "BACKUP\n"])("keeps an interface in state %j", (state) => {
  expect(decodeWith({ state_current: state })).toEqual(listOf({ state }, ["unknown_state"]));
});

test("reads missing and unreadable texts as empty, and numbers as their digits", () => {
  const fields = { if: undefined, netmask: ["255.255.255.0"], carppeer: null, type: 2 };
  expect(decodeWith(fields)).toEqual(
    listOf({ device: "", netmask: "", peer: "", configuredRole: "backup" }, []),
  );
});

test.each([
  ["state_current", undefined],
  ["state_current", ""],
  ["state_current", 1],
  ["vip", null],
  ["vip", ""],
  ["vip", {}],
  ["vhid", undefined],
  ["vhid", "two"],
  ["vhid", 256],
  ["vhid", -1],
])("reports an interface with %s %j as unreadable, and nothing else about it", (field, value) => {
  expect(decodeWith({ [field]: value, priority: "much", alias: 1 })).toEqual(
    readAs([], ["carp0"], ["bad_interface"]),
  );
});

test.each([null, [], "carp", 1, false])("drops only the interface that is %j", (member) => {
  expect(decode({ "we ird": member, carp0: DETAILS })).toEqual(
    readAs([DECODED], ["we ird"], ["bad_interface"]),
  );
});

test("decodes an interface named __proto__ like any other", () => {
  const body = `{"__proto__":${JSON.stringify(DETAILS)},"carp1":{"__proto__":${JSON.stringify(DETAILS)}}}`;
  expect(decodeVrrpList(Buffer.from(body), asIs)).toEqual(
    readAs([{ ...DECODED, name: "__proto__" }], ["carp1"], ["bad_interface"]),
  );
});

test("distinguishes names that differ only in invalid bytes", () => {
  const member = Buffer.from(`":${JSON.stringify(DETAILS)}`);
  const body = [Buffer.from('{"a'), [0xfe], member, Buffer.from(',"a'), [0xff], member, Buffer.from("}")];
  const decoded = decodeVrrpList(Buffer.concat(body.map((part) => Buffer.from(part))), asIs);
  expect(decoded.ok && decoded.value.interfaces.map(({ name }) => name)).toEqual([
    "a?~11ebf668a4c74fff",
    "a?~07f870ed0b69846c",
  ]);
});

test("reads raw line breaks inside strings", () => {
  const body = JSON.stringify({ carp0: DETAILS }).replace("eth1", "eth1\n");
  expect(decodeVrrpList(Buffer.from(body), asIs)).toEqual(listOf({ device: "eth1\n" }, []));
});

function long(end: string): string {
  return "x".repeat(300) + end;
}

test.each([
  ["1", "master"],
  [2, "backup"],
  ["", undefined],
  ["3", undefined],
  [["1"], undefined],
])("reads the type %j as the configured role %s", (type, configuredRole) => {
  expect(decodeWith({ type })).toEqual(listOf({ configuredRole }, []));
});

test("cuts every text that it keeps, so that different texts stay different", () => {
  const fields = ["state_current", "vip", "if", "netmask", "carppeer"];
  const details = { ...DETAILS, ...Object.fromEntries(fields.map((field) => [field, long(field)])) };
  const decoded = decode({ [long("a")]: details, [long("b")]: "carp" });
  if (!decoded.ok) throw new Error(decoded.failure.message);
  const { interfaces, unreadable, anomalies } = decoded.value;
  const { name, state, vip, device, netmask, peer } = interfaces[0] ?? {};
  const all = [name, state, vip, device, netmask, peer, ...unreadable];
  expect(all.map((text) => text?.replace(/^x{256}~[0-9a-f]{16}$/, "cut"))).toEqual(Array(7).fill("cut"));
  expect(new Set(all).size).toBe(7);
  expect(anomalies).toEqual(["bad_field", "unknown_state", "bad_interface"]);
});

const SECRET = "priority";
/** Decodes a list for a request that was sent with the password `priority`. */
function redacted(value: unknown) {
  return decodeVrrpList(Buffer.from(JSON.stringify(value)), (text) => text.replaceAll(SECRET, "<secret>"));
}

test("redacts every kept text, but no key or number", () => {
  const fields = { state_current: SECRET, vip: SECRET, if: SECRET, netmask: SECRET, carppeer: SECRET };
  const kept = Object.fromEntries(
    ["state", "vip", "device", "netmask", "peer"].map((field) => [field, "<secret>"]),
  );
  expect(redacted({ carp0: { ...DETAILS, ...fields } })).toEqual(
    listOf(kept, ["bad_field", "unknown_state"]),
  );
  expect(redacted({ [SECRET]: {} })).toEqual(readAs([], ["<secret>"], ["bad_interface"]));
});

test("never redacts MASTER", () => {
  const body = Buffer.from(JSON.stringify({ carp0: DETAILS }));
  expect(decodeVrrpList(body, (text) => text.replace("MASTER", "<secret>"))).toEqual(listOf({}, []));
});

test("redacts before it cuts, so that no part and no hash of the credentials is left", () => {
  const decoded = redacted({ [`${"x".repeat(252)}${SECRET}`]: DETAILS });
  expect(decoded.ok && decoded.value.interfaces.map(({ name }) => name)).toEqual([
    `${"x".repeat(252)}<sec~4a2a97958c56d24c`,
  ]);
});

test("if two names are equal after redaction, the second is unreadable", () => {
  expect(redacted({ [SECRET]: DETAILS, "<secret>": DETAILS, carp0: DETAILS })).toEqual(
    readAs([{ ...DECODED, name: "<secret>" }, DECODED], [], ["bad_interface"]),
  );
});

test("encodes a list exactly as specified", () => {
  const { alias, type } = DETAILS;
  const { advskew: _, aliases: __, configuredRole: ___, ...known } = { ...DECODED, alias, type };
  const body = encodeVrrpList([
    known,
    { ...known, name: "__proto__", priority: 255, state: "BACKUP", alias: [] },
  ]);
  expect(body).toBe(
    '{"carp0":{"advskew":"50","alias":["192.0.2.101","192.0.2.102"],"carppeer":"224.0.0.18","if":"eth1",' +
      '"netmask":"255.255.255.0","priority":"204","state_current":"MASTER","type":"1","vhid":"2","vip":"192.0.2.100"},' +
      '"__proto__":{"advskew":"-1","alias":[],"carppeer":"224.0.0.18","if":"eth1",' +
      '"netmask":"255.255.255.0","priority":"255","state_current":"BACKUP","type":"1","vhid":"2","vip":"192.0.2.100"}}',
  );
});

test("encodes an empty list as an empty object", () => {
  expect(encodeVrrpList([])).toBe("{}");
});
