import { describe, expect, test } from "vitest";

import { parseDump } from "../../../src/appliance/keepalived/dump.ts";

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

const INSTANCES = [
  {
    name: "VI_1",
    device: "eth0",
    vhid: 51,
    priority: 140,
    state: 2,
    addresses: [
      { address: "198.51.100.100", prefix: 24 },
      { address: "198.51.100.101", prefix: 25 },
      { address: "198.51.100.102", prefix: 32 },
      { address: "198.51.100.103", prefix: 32 },
    ],
  },
  {
    name: "V6",
    device: "eth1",
    vhid: 52,
    priority: 255,
    state: 3,
    addresses: [
      { address: "fe80::5", prefix: 64 },
      { address: "2001:db8::2", prefix: 128 },
    ],
  },
];

test("reads the instances, their addresses without what follows", () => {
  expect(parseDump(DUMP)).toEqual({ ok: true, instances: INSTANCES });
});

test("reads the form that keepalived calls version 2", () => {
  expect(parseDump(`{"vrrp":${DUMP},"track_process":[]}`)).toEqual({ ok: true, instances: INSTANCES });
});

test("treats every truncated dump as incomplete", () => {
  for (const text of [DUMP, `{"vrrp":${DUMP}}`]) {
    const beginnings = Array.from({ length: text.length }, (_, length) => text.slice(0, length));
    expect(beginnings.filter((beginning) => parseDump(beginning) !== undefined)).toEqual([]);
  }
});

test("reads an instance that has neither interface nor addresses", () => {
  const data = { iname: "VI_1", vrid: 51, effective_priority: 100, state: 3 };
  expect(parseDump(JSON.stringify([{ data }]))).toEqual({
    ok: true,
    instances: [{ name: "VI_1", device: "", vhid: 51, priority: 100, state: 3, addresses: [] }],
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
    expect(parseDump(JSON.stringify(value))).toEqual({
      ok: false,
      reason: `unknown dump format at $${path}`,
    });
  });
});
