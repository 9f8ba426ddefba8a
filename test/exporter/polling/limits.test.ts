import { expect, test, vi } from "vitest";
import { applianceOf, configOf, websiteOf } from "../../support/observations.ts";
import { NO_INTERFACES, shortly, SITE_OK, startHeldRunner, VRRP_PATH } from "./poller-support.ts";

/** An appliance with so many websites, of which as many are tested at the same time. */
function busy(name: string, websites: number, maxConcurrentWebsiteTests = websites) {
  const { polling } = applianceOf({ name });
  return applianceOf({
    name,
    websites: Array.from({ length: websites }, (_, nth) => websiteOf({ id: nth + 1 })),
    polling: { ...polling, maxConcurrentWebsiteTests },
  });
}

/** Polls appliances whose lists have been answered, so that all of their tests are due. */
async function startTests(fleetLimit: number, ...appliances: readonly ReturnType<typeof busy>[]) {
  const held = startHeldRunner(...appliances);
  const { clock, clients } = held;
  const setLimit = (maxConcurrentWebsiteTests: number, next = appliances): void =>
    held.applyConfig({ ...configOf(...next), maxConcurrentWebsiteTests });
  setLimit(fleetLimit);
  await clock.pass(1_001);
  for (const client of clients) await client.answer(VRRP_PATH, NO_INTERFACES);
  await clock.pass(1_001);
  /** The number of tests in flight at each appliance. */
  const inFlight = (): readonly number[] =>
    clients.map((client) => client.waiting().filter((path) => path.endsWith("/test")).length);
  const answer = (nth: number): Promise<void> | undefined => clients[nth]?.answer("/test", SITE_OK);
  return { ...held, setLimit, inFlight, answer };
}

test("an appliance whose slots hang leaves every free slot to the others", async () => {
  const { inFlight, answer, observed } = await startTests(2, busy("hog", 5), busy("good", 3));
  expect(inFlight()).toEqual([1, 1]);
  for (const _ of [1, 2, 3]) await answer(1);
  expect(inFlight()).toEqual([1, 0]);
  expect(
    observed.filter(({ appliance, kind }) => appliance === "good" && kind === "website_test"),
  ).toHaveLength(3);
});

test("appliances that wait for a slot take turns, in whatever order their tests were due", async () => {
  const fleet = ["a", "b", "c", "d", "e", "f"].map((name) => busy(name, 4));
  const { inFlight, answer } = await startTests(3, ...fleet);
  const served: number[] = [];
  // Tests that found a free slot end first.
  const line = inFlight().flatMap((count, nth) => Array.from({ length: count }, () => nth));
  while (served.length < fleet.length) {
    const [oldest = -1] = line.splice(0, 1);
    const before = inFlight().with(oldest, (inFlight()[oldest] ?? 0) - 1);
    await answer(oldest);
    const next = inFlight().findIndex((count, nth) => count > (before[nth] ?? 0));
    line.push(next);
    served.push(next);
  }
  expect(new Set(served).size).toBe(fleet.length);
});

test("a higher limit applies at a reload, for the fleet and for an appliance; a lower one as slots are released", async () => {
  const { inFlight, answer, setLimit, clock } = await startTests(2, busy("a", 4, 1), busy("b", 4, 1));
  expect(inFlight()).toEqual([1, 1]);
  setLimit(3);
  await clock.pass(0);
  expect(inFlight()).toEqual([1, 1]);
  setLimit(3, [busy("a", 4, 2), busy("b", 4, 1)]);
  await clock.pass(0);
  expect(inFlight()).toEqual([2, 1]);
  setLimit(1, [busy("a", 4, 2), busy("b", 4, 1)]);
  await answer(0);
  await answer(1);
  expect(inFlight()).toEqual([1, 0]);
  await answer(0);
  expect(inFlight()).toEqual([0, 1]);
});

test("an appliance that is removed leaves its slots and its place to others, and nothing waits after the end", async () => {
  const [gone, other] = [busy("gone", 3), busy("other", 2)];
  const { inFlight, answer, setLimit, clock, clients, runner, observed } = await startTests(2, gone, other);
  expect(inFlight()).toEqual([1, 1]);
  setLimit(2, [other]);
  await clock.pass(0);
  await answer(0);
  await answer(1);
  expect(inFlight()).toEqual([0, 1]);
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  runner.stop();
  await answer(1);
  expect(observed.map(shortly).filter((line) => line.startsWith("website"))).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
