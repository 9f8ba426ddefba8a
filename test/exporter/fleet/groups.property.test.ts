import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createFleet } from "../../../src/exporter/fleet/fleet.ts";
import { afterVrrpPoll, vrrpFor } from "../../../src/exporter/fleet/vrrp.ts";
import { applianceOf, configOf, failed, interfaceOf, listOf, seen } from "../../support/observations.ts";
import { clustersOf, MEMBER_A, MEMBER_B, MEMBER_C } from "./support.ts";

const CONFIG = configOf(MEMBER_A, MEMBER_B, MEMBER_C);
const OTHER_CONFIG = configOf(MEMBER_A, MEMBER_B, MEMBER_C, applianceOf({ name: "d", cluster: "ams" }));

const seenInterface = fc.record({
  vhid: fc.constantFrom(1, 2, 3),
  vip: fc.constantFrom("192.0.2.100", "192.0.2.101"),
  aliases: fc.constantFrom([], ["192.0.2.100"], ["192.0.2.101"], ["192.0.2.102"]),
  state: fc.constantFrom("MASTER", "BACKUP", "INIT"),
  priority: fc.constantFrom(undefined, 100, 200),
  configuredRole: fc.constantFrom("master" as const, "backup" as const),
});

/** What one member says; `undefined` interfaces: its poll failed. */
const answer = fc.record({
  appliance: fc.constantFrom("a", "b", "c"),
  interfaces: fc.option(fc.array(seenInterface, { maxLength: 4 }), { nil: undefined, freq: 8 }),
  unreadable: fc.constantFrom([], [], ["carp0"]),
});

/** Polls with few answers, so that most of them find what an earlier one has found; each so many milliseconds after the one before. */
const polls = fc
  .array(answer, { minLength: 1, maxLength: 6 })
  .chain((answers) =>
    fc.array(
      fc.record({ said: fc.constantFrom(...answers), afterMs: fc.constantFrom(0, 1, 1_000, 5_000, 20_000) }),
      { maxLength: 20 },
    ),
  );

test("groups that are updated poll by poll are the groups made from all that is known", () => {
  fc.assert(
    fc.property(polls, (all) => {
      const [fleet, rebuilt] = [createFleet(), createFleet()];
      fleet.configure(CONFIG, 0);
      rebuilt.configure(CONFIG, 0);
      let nowMs = 0;
      for (const { said, afterMs } of all) {
        const { appliance, interfaces, unreadable } = said;
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
        for (const config of [OTHER_CONFIG, CONFIG]) rebuilt.configure(config, 0);
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
    if (observation.kind === "vrrp") state = afterVrrpPoll(state, observation, nowMs);
  }
  expect(state.seen?.answersByKey.size).toBe(2048);
  expect(state.seen?.answersByKey.get("5 1023")?.[0]).toMatchObject({
    role: "master",
    first: { endedMs: 5 },
  });
});
