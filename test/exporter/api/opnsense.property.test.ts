import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anonymizeBody, createNumbering } from "../../../src/exporter/api/anonymize.ts";
import { OPNSENSE } from "../../../src/exporter/api/opnsense.ts";
import { cutText } from "../../../src/exporter/api/text.ts";
import { VRRP_ENCODERS } from "../../../src/appliance/vrrp-encoders.ts";

const { decode, anonymize } = OPNSENSE.operations.vrrp;

/** An answer to a request without credentials. */
const asIs = (text: string): string => text;

const CANARIES = ["hunter2-c4n4ry", "fw-1.corp.example", "10.20.30.40"];

const scalar = fc.oneof(
  fc.constantFrom("", "LAN", "MASTER", "carp", "ipalias", "out of range", " 1 ", "01", "-0", ...CANARIES),
  fc.string({ unit: "binary" }),
  fc.integer({ min: -2, max: 300 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const field = fc.oneof({ weight: 9, arbitrary: scalar }, fc.array(scalar, { maxLength: 2 }));

/** Mostly good, so that rows meet in one VHID. */
function mostly(good: fc.Arbitrary<unknown>) {
  return fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: field });
}

const row = fc.record(
  {
    interface: mostly(fc.constantFrom("LAN", "WAN", "10.20.30.40")),
    vhid: mostly(fc.constantFrom("1", 1, "2", 255)),
    advbase: mostly(fc.constantFrom("1", 1, "20")),
    advskew: mostly(fc.integer({ min: 0, max: 255 })),
    subnet: mostly(fc.oneof(fc.ipV4(), fc.ipV6())),
    status: mostly(fc.constantFrom("MASTER", "MASTER", "BACKUP", "INIT", "DISABLED")),
    mode: mostly(fc.constantFrom("carp", "ipalias")),
    status_txt: field,
    note: field,
  },
  { requiredKeys: ["interface", "vhid", "subnet", "status"] },
);
const carp = fc.oneof(
  fc.record(
    {
      demotion: mostly(fc.constantFrom("0", 0, "240", -540)),
      allow: mostly(fc.constantFrom("0", "1")),
      maintenancemode: mostly(fc.boolean()),
      status_msg: field,
    },
    { requiredKeys: [] },
  ),
  field,
);
const answer = fc.record(
  { rows: fc.oneof({ weight: 9, arbitrary: fc.array(fc.oneof(row, field), { maxLength: 8 }) }, field), carp },
  { requiredKeys: [] },
);

const RUNS = { numRuns: 1000 };

test("decodes what the reference appliance encodes, without an anomaly", () => {
  const local = fc.record({
    name: fc.constant("carp0"),
    state: fc.constantFrom("MASTER", "BACKUP", "INIT", "DISABLED"),
    vhid: fc.integer({ min: 1, max: 255 }),
    vip: fc.oneof(fc.ipV4(), fc.ipV6()),
    priority: fc.integer({ min: 0, max: 254 }),
    alias: fc.uniqueArray(fc.ipV4(), { maxLength: 3 }),
    device: fc.string({ unit: "binary", minLength: 1 }),
    netmask: fc.constant(""),
    peer: fc.constant(""),
    type: fc.constant("1"),
  });
  const lists = fc.uniqueArray(local, { maxLength: 6, selector: ({ device, vhid }) => `${device}/${vhid}` });
  fc.assert(
    fc.property(lists, fc.integer({ min: -1000, max: 1000 }), fc.boolean(), (interfaces, demotion, isOff) => {
      const state = { interfaces, carp: { demotion, allow: true, maintenancemode: isOff } };
      const outcome = decode(Buffer.from(VRRP_ENCODERS.opnsense(state)), asIs);
      expect(outcome).toMatchObject({
        ok: true,
        value: {
          unreadable: [],
          anomalies: [],
          hasUnnamed: false,
          demotion,
          restraint: isOff ? "maintenance_mode" : undefined,
          interfaces: interfaces.map(({ vip, vhid, device, priority, alias, state: current }) => ({
            name: cutText(`${device}/${vhid}`),
            vip,
            vhid,
            state: current,
            device: cutText(device),
            advskew: 254 - priority,
            aliases: alias,
            priority: demotion === 0 ? priority : undefined,
          })),
        },
      });
    }),
  );
});

test("of any answer, each VHID is an interface or unreadable, and nothing is claimed that no row says", () => {
  fc.assert(
    fc.property(answer, (given) => {
      const outcome = decode(Buffer.from(JSON.stringify(given)), asIs);
      const failure = outcome.ok ? "decode" : outcome.failure.reason;
      expect(failure).toBe("decode");
      if (!outcome.ok) return;
      const { interfaces, unreadable, anomalies, hasUnnamed, demotion } = outcome.value;
      const names = [...interfaces.map(({ name }) => name), ...unreadable];
      expect(new Set(names).size).toBe(names.length);
      const bad = anomalies.filter((each) => each === "bad_interface").length;
      expect(bad).toBeGreaterThanOrEqual(unreadable.length + Number(hasUnnamed));
      const rows: readonly unknown[] = Array.isArray(given.rows) ? given.rows : [];
      const said = JSON.stringify(rows);
      const texts = interfaces.flatMap(({ state, vip }) => [state, vip]);
      expect(texts.filter((text) => text === "" || !said.includes(jsonOf(text)))).toEqual([]);
      expect(interfaces.filter(({ priority }) => priority !== undefined && demotion !== 0)).toEqual([]);
    }),
    RUNS,
  );
});

/** A text within JSON, as far as cutting does not change it. */
function jsonOf(text: string): string {
  return /[~?]/.test(text) ? "" : JSON.stringify(text).slice(1, -1);
}

test("what is recorded decodes alike, has no text of the network, and stays the same when it is recorded again", () => {
  fc.assert(
    fc.property(answer, (given) => {
      const body = Buffer.from(JSON.stringify(given));
      const recorded = anonymizeBody(body, anonymize, createNumbering());
      for (const canary of CANARIES) expect(recorded).not.toContain(canary);
      expect(anonymizeBody(Buffer.from(recorded), anonymize, createNumbering())).toBe(recorded);
      const [before, after] = [body, Buffer.from(recorded)].map((bytes) => shapeOf(decode(bytes, asIs)));
      expect(after).toEqual(before);
    }),
    RUNS,
  );
});

function shapeOf(outcome: ReturnType<typeof decode>) {
  if (!outcome.ok) return outcome.failure.reason;
  const { interfaces, unreadable, anomalies, ...rest } = outcome.value;
  const shapes = interfaces.map(({ vhid, priority, advskew, aliases }) => {
    return { vhid, priority, advskew, aliases: aliases?.length };
  });
  return { ...rest, shapes, unreadable: unreadable.length, anomalies: anomalies.toSorted() };
}
