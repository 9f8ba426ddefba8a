import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeVrrpList } from "../../../src/appliance/encode.ts";
import { decodeVrrpList } from "../../../src/exporter/api/vrrp-list.ts";
import { parseDump } from "../../../src/appliance/keepalived.ts";

/** A dump of keepalived 2.2.7, without most of the unused fields. */
const DUMP =
  '[{"data":{"iname":"VI_1","vmac_ifname":"","ifp_ifname":"eth0","last_transition":1795271378.469899,"vrid":51,' +
  '"base_priority":150,"effective_priority":140,"vipset":true,"adver_int":0.1,"state":2,"wantstate":2,' +
  '"vips":["198.51.100.100\\/24 dev eth0 scope global set","198.51.100.101\\/25 dev eth0 scope global label eth0:1 set",' +
  '"198.51.100.102 dev eth0 scope global set","198.51.100.103 peer 198.51.100.104\\/32 dev eth0 scope global"],' +
  '"evips":["198.51.100.109 dev eth0 scope global set"],"auth_type":1,"auth_data":"secret"},' +
  '"stats":{"advert_rcvd":0,"advert_sent":46}},' +
  '{"data":{"iname":"V6","ifp_ifname":"eth1","vrid":52,"effective_priority":255,"state":3,' +
  '"vips":["fe80::5\\/64 dev eth1 scope global preferred_lft forever","2001:db8::2 dev eth1 scope global deprecated"]}}]';

const SETTINGS = { peer: "224.0.0.18", type: "2" };

const INTERFACES = [
  {
    name: "VI_1",
    device: "eth0",
    vhid: 51,
    priority: 140,
    state: "MASTER",
    vip: "198.51.100.100",
    netmask: "255.255.255.0",
    alias: ["198.51.100.101", "198.51.100.102", "198.51.100.103", "198.51.100.109"],
    ...SETTINGS,
  },
  {
    name: "V6",
    device: "eth1",
    vhid: 52,
    priority: 255,
    state: "FAULT",
    vip: "fe80::5",
    netmask: "ffff:ffff:ffff:ffff::",
    alias: ["2001:db8::2"],
    ...SETTINGS,
  },
];

const read = (text: string) => parseDump(text, new Map());

test("reads the instances, their addresses without what follows", () => {
  expect(read(DUMP)).toEqual({ ok: true, interfaces: INTERFACES });
});

test("reads the form that keepalived calls version 2", () => {
  expect(read(`{"vrrp":${DUMP},"track_process":[]}`)).toEqual({ ok: true, interfaces: INTERFACES });
});

test("treats every truncated dump as incomplete", () => {
  for (const text of [DUMP, `{"vrrp":${DUMP}}`]) {
    const beginnings = Array.from({ length: text.length }, (_, length) => text.slice(0, length));
    expect(beginnings.filter((beginning) => read(beginning) !== undefined)).toEqual([]);
  }
});

test("leaves out an instance without addresses, and reads one without an interface", () => {
  const data = { iname: "VI_1", vrid: 51, effective_priority: 100, state: 3 };
  const other = { ...data, iname: "VI_2", vips: ["192.0.2.1"] };
  expect(read(JSON.stringify([{ data }, { data: other }]))).toMatchObject({
    ok: true,
    interfaces: [{ name: "VI_2", device: "", netmask: "255.255.255.255" }],
  });
});

describe("reports where the format is unknown", () => {
  const data = {
    iname: "VI_1",
    vrid: 51,
    effective_priority: 100,
    state: 1,
    vips: ["192.0.2.1/24 dev eth0"],
  };

  test.each([
    [{}, ""],
    [[{}], "[0].data"],
    [[{ data }, { data: { ...data, vrid: 256 } }], "[1].data.vrid"],
    [[{ data: { ...data, vips: ["192.0.2.1/33 dev eth0"] } }], "[0].data.vips[0]"],
    [[{ data: { ...data, vips: ["192.0.2.1/24", "eth0"] } }], "[0].data.vips[1]"],
  ])("%j", (value, path) => {
    expect(read(JSON.stringify(value))).toEqual({
      ok: false,
      reason: `unknown dump format at $${path}`,
    });
  });
});

/** An instance as keepalived dumps it. */
function dumped(fields: object): { readonly data: object } {
  const data = { iname: "VI_1", ifp_ifname: "eth0", vrid: 51, effective_priority: 150, state: 2 };
  return { data: { ...data, vips: ["198.51.100.100/24"], ...fields } };
}

function interfacesOf(instances: readonly object[], settings: Parameters<typeof parseDump>[1] = new Map()) {
  const parsed = parseDump(JSON.stringify(instances), settings);
  if (parsed?.ok !== true) throw new Error(parsed?.reason ?? "incomplete");
  return parsed.interfaces;
}

test("adds the settings of an instance to that one only, in the order of the dump", () => {
  const settings = new Map([["VI_2", { carppeer: "198.51.100.12", type: "1" }]]);
  const instances = ["VI_1", "VI_2", "VI_3"].map((iname) => dumped({ iname }));
  expect(interfacesOf(instances, settings).map(({ name, peer, type }) => [name, peer, type])).toEqual([
    ["VI_1", "224.0.0.18", "2"],
    ["VI_2", "198.51.100.12", "1"],
    ["VI_3", "224.0.0.18", "2"],
  ]);
});

test.each([
  ["INIT", 0, "INIT"],
  ["BACKUP", 1, "BACKUP"],
  ["MASTER", 2, "MASTER"],
  ["FAULT", 3, "FAULT"],
  ["an instance that stops", 98, "INIT"],
  ["a number that no version has", -1, "INIT"],
])("maps %s (%d) to %s", (_, state, word) => {
  expect(interfacesOf([dumped({ state })])[0]?.state).toBe(word);
});

test.each([
  ["192.0.2.1/20", "255.255.240.0"],
  ["192.0.2.1/32", "255.255.255.255"],
  ["2001:db8::1/64", "ffff:ffff:ffff:ffff::"],
  ["2001:db8::1/112", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:0"],
  ["2001:db8::1/128", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
])("converts the prefix of %s to the netmask %s", (vip, netmask) => {
  expect(interfacesOf([dumped({ vips: [vip] })])[0]?.netmask).toBe(netmask);
});

const address = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
);

const instance = fc.record({
  iname: fc.string({ minLength: 1 }),
  ifp_ifname: fc.string(),
  vrid: fc.integer({ min: 0, max: 255 }),
  effective_priority: fc.integer({ min: 0, max: 255 }),
  state: fc.integer({ min: 0, max: 3 }),
  vips: fc.array(address, { minLength: 1, maxLength: 5 }),
});

test("converts any instances to a list that the exporter decodes without anomalies", () => {
  fc.assert(
    fc.property(fc.uniqueArray(instance, { selector: ({ iname }) => iname }), (instances) => {
      const texts = instances.map(({ vips, ...rest }) =>
        dumped({ ...rest, vips: vips.map((vip) => vip.join("/")) }),
      );
      const body = encodeVrrpList(interfacesOf(texts));
      const decoded = decodeVrrpList(Buffer.from(body), (text) => text);
      if (!decoded.ok) throw new Error(decoded.failure.message);
      const { interfaces, anomalies, unreadable } = decoded.value;
      expect([anomalies, unreadable]).toEqual([[], []]);
      const byName = new Map(interfaces.map((each) => [each.name, each]));
      for (const { iname, state, vips } of instances) {
        expect(byName.get(iname)?.state === "MASTER").toBe(state === 2);
        const { vip, aliases } = byName.get(iname) ?? {};
        expect([vip, aliases?.length]).toEqual([vips[0]?.[0], vips.length - 1]);
      }
    }),
  );
});
