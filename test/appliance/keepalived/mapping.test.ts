import * as fc from "fast-check";
import { expect, test } from "vitest";

import { decodeVrrpList, encodeVrrpList } from "../../../src/api/vrrp.ts";
import type { DumpedInstance } from "../../../src/appliance/keepalived/dump.ts";
import { toInterfaces } from "../../../src/appliance/keepalived/mapping.ts";

const INSTANCE: DumpedInstance = {
  name: "VI_1",
  device: "eth0",
  vhid: 51,
  priority: 150,
  state: 2,
  addresses: [
    { address: "198.51.100.100", prefix: 24 },
    { address: "198.51.100.101", prefix: 32 },
    { address: "2001:db8::1", prefix: 64 },
  ],
};

function mapped(fields: Partial<DumpedInstance>) {
  return toInterfaces([{ ...INSTANCE, ...fields }], new Map())[0];
}

test("adds the settings of an instance to that one only, in the order of the dump", () => {
  const settings = new Map([["VI_2", { peer: "198.51.100.12", type: "1" }]]);
  const instances = ["VI_1", "VI_2", "VI_3"].map((name) => ({ ...INSTANCE, name }));
  expect(toInterfaces(instances, settings).map(({ name, peer, type }) => [name, peer, type])).toEqual([
    ["VI_1", "224.0.0.18", "2"],
    ["VI_2", "198.51.100.12", "1"],
    ["VI_3", "224.0.0.18", "2"],
  ]);
});

test.each([
  ["INIT", 0, "BACKUP"],
  ["BACKUP", 1, "BACKUP"],
  ["MASTER", 2, "MASTER"],
  ["FAULT", 3, "BACKUP"],
  ["a state of a later keepalived", 98, "BACKUP"],
])("maps %s (%d) to %s", (_, state, word) => {
  expect(mapped({ state })?.state).toBe(word);
});

test.each([
  ["192.0.2.1", 20, "255.255.240.0"],
  ["192.0.2.1", 32, "255.255.255.255"],
  ["2001:db8::1", 64, "ffff:ffff:ffff:ffff::"],
  ["2001:db8::1", 112, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:0"],
  ["2001:db8::1", 128, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
])("converts the prefix of %s/%d to the netmask %s", (address, prefix, netmask) => {
  expect(mapped({ addresses: [{ address, prefix }] })?.netmask).toBe(netmask);
});

test("leaves out an instance without addresses", () => {
  const instances = [{ ...INSTANCE, name: "none", addresses: [] }, INSTANCE];
  expect(toInterfaces(instances, new Map()).map(({ name }) => name)).toEqual(["VI_1"]);
});

const address = fc.oneof(
  fc.record({ address: fc.ipV4(), prefix: fc.integer({ min: 0, max: 32 }) }),
  fc.record({ address: fc.ipV6(), prefix: fc.integer({ min: 0, max: 128 }) }),
);

const instance = fc.record({
  name: fc.string({ minLength: 1 }),
  device: fc.string(),
  vhid: fc.integer({ min: 0, max: 255 }),
  priority: fc.integer({ min: 0, max: 255 }),
  state: fc.integer({ min: 0, max: 3 }),
  addresses: fc.array(address, { minLength: 1, maxLength: 5 }),
});

test("converts any instances to a list that the exporter decodes without anomalies", () => {
  fc.assert(
    fc.property(fc.uniqueArray(instance, { selector: ({ name }) => name }), (instances) => {
      const body = encodeVrrpList(toInterfaces(instances, new Map()));
      const decoded = decodeVrrpList(Buffer.from(body), (text) => text);
      if (!decoded.ok) throw new Error(decoded.problem.message);
      const { interfaces, anomalies, unreadable } = decoded.value;
      expect([anomalies, unreadable]).toEqual([[], []]);
      const byName = new Map(interfaces.map((each) => [each.name, each]));
      for (const { name, state, addresses } of instances) {
        expect(byName.get(name)?.state === "MASTER").toBe(state === 2);
        const { vip, aliases } = byName.get(name) ?? {};
        expect([vip, aliases?.length]).toEqual([addresses[0]?.address, addresses.length - 1]);
      }
    }),
  );
});
