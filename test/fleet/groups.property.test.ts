import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createFleet } from "../../src/fleet/fleet.ts";
import { afterVrrpPoll, vrrpFor } from "../../src/fleet/vrrp.ts";
import { configOf, failed, interfaceOf, listOf, seen } from "../support/observations.ts";
import { clustersOf, MEMBER_A, MEMBER_B, MEMBER_C } from "./support.ts";

const CONFIG = configOf(MEMBER_A, MEMBER_B, MEMBER_C);

const seenInterface = fc.record({
  vhid: fc.constantFrom(1, 2, 3),
  vip: fc.constantFrom("192.0.2.100", "192.0.2.101"),
  aliases: fc.constantFrom([], ["192.0.2.100"], ["192.0.2.101"], ["192.0.2.102"]),
  state: fc.constantFrom("MASTER", "BACKUP", "INIT"),
  priority: fc.constantFrom(undefined, 100, 200),
  configuredRole: fc.constantFrom("master" as const, "backup" as const),
});

/** A poll of one member, so many milliseconds after the one before; `undefined` interfaces: it failed. */
const poll = fc.record({
  appliance: fc.constantFrom("a", "b", "c"),
  afterMs: fc.constantFrom(0, 1, 1_000, 5_000, 20_000),
  interfaces: fc.option(fc.array(seenInterface, { maxLength: 4 }), { nil: undefined }),
  unreadable: fc.constantFrom([], ["carp0"]),
});

test("groups that are updated poll by poll are the groups made from all that is known", () => {
  fc.assert(
    fc.property(fc.array(poll, { maxLength: 20 }), (polls) => {
      const [fleet, rebuilt] = [createFleet(), createFleet()];
      fleet.configure(CONFIG, 0);
      rebuilt.configure(CONFIG, 0);
      let nowMs = 0;
      for (const { appliance, afterMs, interfaces, unreadable } of polls) {
        nowMs += afterMs;
        const dated = { expiresAtMs: nowMs + 14_000 };
        const known = interfaces?.map((each, nth) => interfaceOf({ name: `carp${nth}`, ...each }));
        const observation =
          known === undefined
            ? failed.vrrp(appliance, "timeout", dated)
            : seen.vrrp(appliance, listOf(known.slice(unreadable.length), { unreadable }), dated);
        fleet.record(observation, nowMs);
        rebuilt.record(observation, nowMs);
        // After another configuration, the groups are made from all that is known.
        rebuilt.configure(CONFIG, 0);
        expect(clustersOf(fleet, nowMs)).toEqual(clustersOf(rebuilt, nowMs));
      }
    }),
  );
});

test("a poll that changes no group leaves the list of groups the same object", () => {
  const fleet = createFleet();
  fleet.configure(CONFIG, 0);
  const observation = seen.vrrp("a", listOf([interfaceOf()]));
  fleet.record(observation, 0);
  // The first sight of a MASTER is a change, and a poll after it settles it.
  fleet.record(observation, 1);
  const before = clustersOf(fleet, 1)[0]?.groups;
  fleet.record(observation, 2);
  expect(clustersOf(fleet, 2)[0]?.groups).toBe(before);
});

test("of the groups that an appliance invents at each poll, the latest 2,048 are remembered", () => {
  let state = vrrpFor(undefined, { appliance: "a", cluster: "ams", labels: {} }, 0);
  for (let nowMs = 0; nowMs < 6; nowMs += 1) {
    const invented = Array.from({ length: 1024 }, (_, nth) =>
      interfaceOf({ name: `carp${nth}`, vhid: nowMs, vip: `${nth}` }),
    );
    const observation = seen.vrrp("a", listOf(invented));
    if (observation.kind === "vrrp") ({ state } = afterVrrpPoll(state, observation, nowMs));
  }
  expect(state.seen?.courses.size).toBe(2048);
  expect(state.seen?.courses.get("5 1023")?.[0]).toMatchObject({ role: "master", first: { endedMs: 5 } });
});
