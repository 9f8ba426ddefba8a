import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createApplianceSnapshots } from "../../src/fleet/appliance-snapshot.ts";
import { afterObservation, stateFor } from "../../src/fleet/appliance-state.ts";
import type { Observation } from "../../src/polling/observation.ts";
import {
  applianceOf,
  blocksOf,
  detailsFailed,
  detailsSeen,
  interfaceOf,
  listOf,
  vrrpFailed,
  vrrpSeen,
  websiteFailed,
  websiteOf,
  websiteSeen,
  websitesSeen,
} from "../support/observations.ts";

const CONFIG = applianceOf({
  name: "a",
  websites: [websiteOf({ id: 1 }), websiteOf({ id: 2 }), websiteOf({ id: 9 })],
  discovery: { exclude: [], limit: 200 },
});

const ids = fc.integer({ min: 1, max: 4 });
/** How an observation looks that expires at this instant. */
type Make = (expiresAtMs: number) => Observation;
const polls = fc.oneof(
  fc.constantFrom("MASTER", "BACKUP").map(
    (state): Make =>
      (expiresAtMs) =>
        vrrpSeen("a", listOf([interfaceOf({ state })]), { expiresAtMs }),
  ),
  fc.constant<Make>((expiresAtMs) => vrrpFailed("a", "timeout", { expiresAtMs })),
  fc.tuple(ids, fc.constantFrom(200, 503)).map(
    ([id, status]): Make =>
      (expiresAtMs) =>
        websiteSeen("a", id, blocksOf(status, 200), { expiresAtMs }),
  ),
  ids.map(
    (id): Make =>
      (expiresAtMs) =>
        websiteFailed("a", id, "timeout", { expiresAtMs }),
  ),
  fc.array(ids, { maxLength: 4 }).map(
    (listed): Make =>
      () =>
        websitesSeen("a", listed),
  ),
  fc.tuple(ids, fc.boolean()).map(
    ([id, isEnabled]): Make =>
      () =>
        detailsSeen("a", id, { host: `${id}.example`, isEnabled }),
  ),
  ids.map(
    (id): Make =>
      () =>
        detailsFailed("a", id, "decode"),
  ),
);
const steps = fc.array(
  fc.record({
    make: polls,
    passesMs: fc.integer({ min: 0, max: 4000 }),
    isLookedAt: fc.boolean(),
    lastsMs: fc.integer({ min: 1, max: 9000 }),
  }),
  { maxLength: 40 },
);

test("a snapshot that is made from the one before a poll is what one made from the state alone would be", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const snapshots = createApplianceSnapshots();
      let nowMs = 0;
      let state = stateFor(undefined, CONFIG, nowMs);
      const check = (): void =>
        expect(snapshots.of(state, nowMs)).toEqual(createApplianceSnapshots().of(state, nowMs));
      for (const { make, passesMs, isLookedAt, lastsMs } of all) {
        nowMs += passesMs;
        if (isLookedAt) check();
        const observation = make(nowMs + lastsMs);
        const before = state;
        ({ state } = afterObservation(before, observation, nowMs));
        snapshots.polled(before, state, observation, nowMs);
        check();
      }
    }),
    { numRuns: 300 },
  );
});
