import { expect, onTestFinished, test, vi } from "vitest";
import { createAttention, nextCheck, type Attention, type Overrun } from "../../src/client/attention.ts";
import { systemClock } from "../../src/support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { holdClock } from "../polling/held-clock.ts";

test.each([
  { realMs: 0, attentiveMs: 0, longestStallMs: 0, next: 1000 },
  { realMs: 999.5, attentiveMs: 999.5, longestStallMs: 0, next: 0.5 },
  { realMs: 1000, attentiveMs: 1000, longestStallMs: 0, next: "over" },
  { realMs: 1800, attentiveMs: 300, longestStallMs: 0, next: 700 },
  { realMs: 2800, attentiveMs: 300, longestStallMs: 100, next: 300 },
  { realMs: 3000, attentiveMs: 300, longestStallMs: 0, next: "late" },
  { realMs: 60_000, attentiveMs: 100, longestStallMs: 59_900, next: 900 },
  { realMs: 60_000, attentiveMs: 100, longestStallMs: 57_000, next: "late" },
  { realMs: 60_000, attentiveMs: 1000, longestStallMs: 57_000, next: "over" },
])(
  "of a timeout of 1 s, $attentiveMs ms in $realMs ms, $longestStallMs of them a stall, are $next",
  ({ next, ...spent }) => {
    expect(nextCheck(1000, spent)).toBe(next);
  },
);

/** Starts a deadline and records its overrun. */
function start(attention: Attention, timeoutMs: number) {
  const overruns: Overrun[] = [];
  const end = attention.deadline(timeoutMs, (overrun) => void overruns.push(overrun));
  onTestFinished(() => void end());
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
  expect(overruns).toEqual([{ kind: "over", stalledMs: 0 }]);
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
  expect(overruns).toEqual([{ kind: "over", stalledMs: 2950 }]);
});

test("a deadline that is ended never passes, tells what is left, and leaves no timer", async () => {
  const clock = holdClock();
  const { end, overruns } = start(createAttention(clock), 1000);
  await clock.pass(600);
  expect(end()).toBe(400);
  expect(vi.getTimerCount()).toBe(0);
  await clock.pass(60_000);
  await rounds();
  expect(overruns).toEqual([]);
});

/** Stalls the event loop, then lets it turn. */
async function blockLoop(ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
  await new Promise((resolve) => setTimeout(resolve));
  await rounds();
}

test("real time is bounded too, and data that arrived by then can still be read", async () => {
  const { overruns } = start(createAttention(systemClock), 500);
  await blockLoop(1100);
  await blockLoop(1100);
  const last = blockLoop(1100);
  let isRead = false;
  setImmediate(() => (isRead = overruns.length === 0));
  await last;
  await eventually(() => expect(overruns.map(({ kind }) => kind)).toEqual(["late"]));
  expect(overruns[0]?.stalledMs).toBeGreaterThan(2800);
  expect(isRead).toBe(true);
});

test("an endless chain of timers is a stall too", async () => {
  const { overruns } = start(createAttention(systemClock), 500);
  const timers = Array.from({ length: 40 }, (_, index) =>
    setTimeout(() => {
      const untilMs = performance.now() + 20;
      while (performance.now() < untilMs);
    }, index),
  );
  await new Promise((resolve) => setTimeout(resolve, timers.length));
  await eventually(() => expect(overruns.map(({ kind }) => kind)).toEqual(["over"]));
  expect(overruns[0]?.stalledMs).toBeGreaterThan(400);
});
