import { expect, onTestFinished, test, vi } from "vitest";
import { createAttention, type Attention } from "../../src/client/attention.ts";
import { systemClock } from "../../src/support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { holdClock } from "../polling/held-clock.ts";

/** Starts a deadline and records its overrun. */
function start(attention: Attention, timeoutMs: number) {
  /** Each with the time that the loop was stalled, if that was too long. */
  const overruns: (number | undefined)[] = [];
  const end = attention.deadline(timeoutMs, (stalledMs) => void overruns.push(stalledMs));
  onTestFinished(end);
  return { end, overruns };
}

/** Turns of the event loop, which fake timers do not affect. */
async function rounds(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("on a healthy loop a deadline passes after its time", async () => {
  const clock = holdClock();
  const { overruns } = start(createAttention(clock), 1000);
  await clock.pass(999);
  await rounds();
  expect(overruns).toEqual([]);
  await clock.pass(1);
  await rounds();
  expect(overruns).toEqual([undefined]);
});

test("only 100 ms of a stall count", async () => {
  const clock = holdClock();
  const { overruns } = start(createAttention(clock), 1000);
  clock.block(3000);
  await clock.pass(999);
  await rounds();
  expect(overruns).toEqual([]);
  await clock.pass(1);
  await rounds();
  expect(overruns).toEqual([undefined]);
});

test("a deadline that is ended never passes, and leaves no timer", async () => {
  const clock = holdClock();
  const { end, overruns } = start(createAttention(clock), 1000);
  await clock.pass(600);
  end();
  expect(vi.getTimerCount()).toBe(0);
  await clock.pass(60_000);
  await rounds();
  expect(overruns).toEqual([]);
});

/** Stalls the event loop, then lets it turn. */
async function stall(ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
  await new Promise((resolve) => setTimeout(resolve));
  await rounds();
}

test("real time is bounded too, and data that arrived by then can still be read", async () => {
  const { overruns } = start(createAttention(systemClock), 500);
  await stall(1100);
  await stall(1100);
  const last = stall(1100);
  let isRead = false;
  setImmediate(() => (isRead = overruns.length === 0));
  await last;
  await eventually(() => expect(overruns).toHaveLength(1));
  expect(overruns[0]).toBeGreaterThan(2800);
  expect(isRead).toBe(true);
});

test("an endless chain of timers is a stall too", async () => {
  const startedMs = performance.now();
  const { overruns } = start(createAttention(systemClock), 500);
  const timers = Array.from({ length: 40 }, (_, index) =>
    setTimeout(() => {
      const untilMs = performance.now() + 20;
      while (performance.now() < untilMs);
    }, index),
  );
  await new Promise((resolve) => setTimeout(resolve, timers.length));
  await eventually(() => expect(overruns).toEqual([undefined]));
  expect(performance.now() - startedMs).toBeGreaterThan(500 + 600);
});
