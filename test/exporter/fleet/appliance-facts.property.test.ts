import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  afterObservation,
  applianceAt,
  applianceFor,
  type ApplianceFacts,
} from "../../../src/exporter/fleet/appliance-facts.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import {
  applianceOf,
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../../support/observations.ts";

const CONFIG = applianceOf({
  name: "a",
  websites: [websiteOf({ id: 2 })],
  discovery: { exclude: [], limit: 200 },
  polling: {
    vrrp: { kind: "interval", intervalMs: 86_400_000, timeoutMs: 1000 },
    websites: { kind: "interval", intervalMs: 1000, timeoutMs: 1000 },
    discovery: { kind: "interval", intervalMs: 86_400_000, timeoutMs: 1000 },
    maxConcurrentWebsiteTests: 4,
  },
});

const ids = fc.integer({ min: 1, max: 4 });
/** How an observation looks that expires at this instant. */
type Make = (expiresAtMs: number) => Observation;
const polls = fc.oneof(
  fc.constantFrom("MASTER", "BACKUP").map(
    (state): Make =>
      (expiresAtMs) =>
        seen.vrrp("a", listOf([interfaceOf({ state })]), { expiresAtMs }),
  ),
  fc.constant<Make>((expiresAtMs) => failed.vrrp("a", "timeout", { expiresAtMs })),
  fc.tuple(ids, fc.constantFrom(200, 503)).map(
    ([id, status]): Make =>
      (expiresAtMs) =>
        seen.website("a", id, blocksOf(status, 200), { expiresAtMs }),
  ),
  ids.map(
    (id): Make =>
      (expiresAtMs) =>
        failed.website("a", id, "timeout", { expiresAtMs }),
  ),
  fc.array(ids, { maxLength: 4 }).map(
    (listed): Make =>
      (expiresAtMs) =>
        seen.websites("a", listed, { expiresAtMs }),
  ),
  fc.tuple(ids, fc.boolean()).map(
    ([id, isEnabled]): Make =>
      (expiresAtMs) =>
        seen.details("a", id, { host: `${id}.example`, isEnabled }, { expiresAtMs }),
  ),
  ids.map(
    (id): Make =>
      () =>
        failed.details("a", id, "decode"),
  ),
);
const steps = fc.array(
  fc.record({
    make: polls,
    passesMs: fc.integer({ min: 0, max: 4000 }),
    isLookedAt: fc.boolean(),
    lastsMs: fc.integer({ min: 1, max: 90_000 }),
  }),
  { maxLength: 40 },
);

function expiriesIn({ vrrp, websites, discoveryFacts }: ApplianceFacts): readonly number[] {
  const { list, details } = discoveryFacts ?? {};
  const all = [vrrp, ...websites, ...(list === undefined ? [] : [list]), ...(details?.values() ?? [])];
  return all.map(({ expiresAtMs }) => expiresAtMs);
}

test("whatever is polled and passes, what has expired counts as stalled", () => {
  fc.assert(
    fc.property(steps, (all) => {
      let nowMs = 0;
      let state = applianceFor(undefined, CONFIG, nowMs);
      for (const { make, passesMs, isLookedAt, lastsMs } of all) {
        nowMs += passesMs;
        if (isLookedAt) state = applianceAt(state, nowMs);
        state = afterObservation(applianceAt(state, nowMs), make(nowMs + lastsMs), nowMs);
        expect(Math.min(...expiriesIn(applianceAt(state, nowMs)))).toBeGreaterThan(nowMs);
        expect(state.untilMs).toBeLessThanOrEqual(Math.min(...expiriesIn(state)));
      }
      // The compiler demands the facts about each operation in `untilMs`: in the end none is left that has not expired.
      expect(applianceAt(state, Number.MAX_SAFE_INTEGER).untilMs).toBe(Number.POSITIVE_INFINITY);
    }),
    { numRuns: 300 },
  );
});
