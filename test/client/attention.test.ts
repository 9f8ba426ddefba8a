import { expect, onTestFinished, test, vi } from "vitest";
import { createAttention, type Attention } from "../../src/client/attention.ts";
import { systemClock } from "../../src/support/clock.ts";
import { holdClock } from "../polling/held-clock.ts";

/** Starts a deadline and records whether it has passed. */
function start(attention: Attention, timeoutMs: number) {
  const passed: true[] = [];
  const end = attention.deadline(timeoutMs, () => void passed.push(true));
  onTestFinished(() => void end());
  return { end, passed };
}

/** Turns of the event loop, which fake timers do not affect. */
async function rounds(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("on a healthy loop a deadline passes after its time", async () => {
  const clock = holdClock();
  const { passed } = start(createAttention(clock), 1000);
  await clock.pass(999);
  await rounds();
  expect(passed).toEqual([]);
  await clock.pass(1);
  await rounds();
  expect(passed).toEqual([true]);
});

test("only 100 ms of a stall count", async () => {
  const clock = holdClock();
  const { passed } = start(createAttention(clock), 1000);
  clock.block(3000);
  await clock.pass(999);
  await rounds();
  expect(passed).toEqual([]);
  await clock.pass(1);
  await rounds();
  expect(passed).toEqual([true]);
});

test("a deadline that is ended never passes, tells what is left, and leaves no timer", async () => {
  const clock = holdClock();
  const { end, passed } = start(createAttention(clock), 1000);
  await clock.pass(600);
  expect(end()).toBe(400);
  expect(vi.getTimerCount()).toBe(0);
  await clock.pass(60_000);
  await rounds();
  expect(passed).toEqual([]);
});

test("an endless chain of timers is a stall too", async () => {
  const startedMs = performance.now();
  const { end } = start(createAttention(systemClock), 60_000);
  const timers = Array.from({ length: 40 }, (_, index) =>
    setTimeout(() => {
      const untilMs = performance.now() + 20;
      while (performance.now() < untilMs);
    }, index),
  );
  await new Promise((resolve) => setTimeout(resolve, timers.length));
  const countedMs = 60_000 - end();
  expect(performance.now() - startedMs - countedMs).toBeGreaterThan(400);
});
