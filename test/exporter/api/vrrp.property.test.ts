import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeVrrpList, type LocalVrrpInterface } from "../../../src/appliance/encode.ts";
import { cutText } from "../../../src/exporter/api/text.ts";
import { decodeVrrpList } from "../../../src/exporter/api/vrrp-list.ts";

/** An answer to a request without credentials. */
const asIs = (value: string): string => value;

/** Any text, lone surrogates included. */
const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "\uDCFF", '"', "\n", "7"));
const address = fc.oneof(fc.ipV4(), fc.ipV6());

const localInterface: fc.Arbitrary<LocalVrrpInterface> = fc.record({
  name: text,
  state: fc.constantFrom("MASTER", "BACKUP"),
  vhid: fc.integer({ min: 0, max: 255 }),
  vip: address,
  priority: fc.integer({ min: 0, max: 255 }),
  alias: fc.array(address, { maxLength: 3 }),
  device: text,
  netmask: text,
  peer: text,
  type: fc.constantFrom("1", "2"),
});

function byName(first: { name: string }, second: { name: string }): number {
  return first.name < second.name ? -1 : 1;
}

test("decodes what was encoded, without an anomaly", () => {
  const lists = fc.uniqueArray(localInterface, { maxLength: 6, selector: ({ name }) => name });
  fc.assert(
    fc.property(lists, (interfaces) => {
      const decoded = decodeVrrpList(Buffer.from(encodeVrrpList(interfaces)), asIs);
      const expected = interfaces.map(({ alias, type, ...each }) => ({
        ...each,
        name: cutText(each.name),
        vip: cutText(each.vip),
        device: cutText(each.device),
        netmask: cutText(each.netmask),
        peer: cutText(each.peer),
        configuredRole: type === "1" ? "master" : "backup",
        advskew: 254 - each.priority,
        aliases: alias.map(cutText),
      }));
      expect(decoded).toMatchObject({ ok: true, value: { unreadable: [], anomalies: [] } });
      expect(decoded.ok && decoded.value.interfaces.toSorted(byName)).toEqual(expected.toSorted(byName));
    }),
  );
});

const field = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string(), fc.double(), fc.integer());
const details = fc.record(
  { state_current: field, vip: field, vhid: field, priority: field, advskew: field, alias: field, if: field },
  { requiredKeys: [] },
);

test("accounts for every member of any object", () => {
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(details, fc.jsonValue({ maxDepth: 1 }))), (members) => {
      const decoded = decodeVrrpList(Buffer.from(JSON.stringify(members)), asIs);
      if (!decoded.ok) throw new Error("every object is a collection");
      const { interfaces, unreadable, anomalies } = decoded.value;
      const names = [...interfaces.map(({ name }) => name), ...unreadable];
      expect(names.toSorted()).toEqual(Object.keys(members).map(cutText).toSorted());
      expect(anomalies.filter((anomaly) => anomaly === "bad_interface")).toHaveLength(unreadable.length);
    }),
  );
});
