import { expect, test, vi } from "vitest";
import { createSlots, type ApplianceSlots, type Slots } from "../../src/polling/slots.ts";
import { holdClock, type HeldClock } from "./held-clock.ts";

/** Slots under a held clock; `log` contains the names of those that got one, or the limit that was reached. */
function hold(limit: number): { readonly clock: HeldClock; readonly slots: Slots; readonly log: string[] } {
  const clock = holdClock();
  const slots = createSlots(clock);
  slots.setLimit(limit);
  return { clock, slots, log: [] };
}

function take(
  { clock, log }: Pick<ReturnType<typeof hold>, "clock" | "log">,
  appliance: ApplianceSlots,
  name: string,
  waitMs = 1_000,
): void {
  void appliance
    .take(clock.monotonicMs() + waitMs, clock.monotonicMs())
    .then((got) => log.push(got === "slot" ? name : `${name}: no slot of the ${got}`));
}

test("an appliance whose slots hang leaves every free slot to the others", async () => {
  const held = hold(2);
  const [hog, good] = [held.slots.forAppliance(1_000), held.slots.forAppliance(1_000)];
  for (let nth = 0; nth < 5; nth += 1) take(held, hog, "hog", 60_000);
  await held.clock.pass(1);
  for (let nth = 0; nth < 3; nth += 1) take(held, good, "good", 60_000);
  await held.clock.pass(1);
  expect(held.log).toEqual(["hog", "good"]);
  for (let nth = 0; nth < 2; nth += 1) {
    good.release();
    await held.clock.pass(1);
  }
  expect(held.log).toEqual(["hog", "good", "good", "good"]);
});

test("one slot alternates between appliances, however many tests each has", async () => {
  const held = hold(1);
  const join = (): ApplianceSlots => held.slots.forAppliance(4);
  const [a, b, c] = [join(), join(), join()] as const;
  for (const [appliance, name] of [
    [a, "a"],
    [a, "a"],
    [a, "a"],
    [b, "b"],
    [b, "b"],
    [c, "c"],
  ] as const)
    take(held, appliance, name);
  for (const appliance of [a, b, c, a, b]) {
    await held.clock.pass(0);
    appliance.release();
  }
  await held.clock.pass(0);
  expect(held.log).toEqual(["a", "b", "c", "a", "b", "a"]);
});

test("within an appliance the test that waits longest comes first, and a test whose wait has ended takes no slot", async () => {
  const held = hold(1);
  const appliance = held.slots.forAppliance(4);
  take(held, appliance, "first");
  take(held, appliance, "second", 500);
  await held.clock.pass(1);
  take(held, appliance, "third", 5_000);
  void appliance.take(9_000, 0).then(() => held.log.push("ahead"));
  await held.clock.pass(499);
  expect(held.log).toEqual(["first", "second: no slot of the fleet"]);
  appliance.release();
  await held.clock.pass(0);
  appliance.release();
  await held.clock.pass(0);
  expect(held.log).toEqual(["first", "second: no slot of the fleet", "ahead", "third"]);
});

test("a higher limit applies at once, for the fleet and for an appliance; a lower one as slots are released", async () => {
  const held = hold(2);
  const [a, b] = [held.slots.forAppliance(1), held.slots.forAppliance(1)];
  for (const name of ["a1", "a2", "a3"]) take(held, a, name);
  for (const name of ["b1", "b2"]) take(held, b, name);
  await held.clock.pass(0);
  expect(held.log).toEqual(["a1", "b1"]);
  held.slots.setLimit(3);
  await held.clock.pass(0);
  expect(held.log).toHaveLength(2);
  a.setLimit(2);
  await held.clock.pass(0);
  expect(held.log).toEqual(["a1", "b1", "a2"]);
  held.slots.setLimit(1);
  a.release();
  b.release();
  await held.clock.pass(0);
  expect(held.log).toHaveLength(3);
  a.release();
  await held.clock.pass(0);
  expect(held.log).toEqual(["a1", "b1", "a2", "b2"]);
});

test("closing an appliance ends its waits at once and leaves no timer", async () => {
  const held = hold(1);
  const appliance = held.slots.forAppliance(1);
  for (const name of ["a", "b", "c"]) take(held, appliance, name);
  await held.clock.pass(0);
  appliance.close();
  await held.clock.pass(0);
  expect(held.log).toEqual(["a", "b: no slot of the appliance", "c: no slot of the appliance"]);
  expect(vi.getTimerCount()).toBe(0);
  const other = held.slots.forAppliance(1);
  take(held, other, "other");
  appliance.release();
  await held.clock.pass(0);
  expect(held.log.at(-1)).toBe("other");
});
