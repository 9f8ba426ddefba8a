import { expect, onTestFinished, test, vi } from "vitest";
import { createAttention, type Attention } from "../../../src/exporter/client/attention.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { holdClock } from "../polling/held-clock.ts";

/** Starts a deadline and counts how often it passes. */
function start(attention: Attention, timeoutMs: number) {
  const onOver = vi.fn<() => void>();
  const end = attention.deadline(timeoutMs, onOver);
  onTestFinished(end);
  return { end, onOver };
}

/** Turns of the event loop, which fake timers do not affect. */
async function rounds(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("on a healthy loop a deadline passes after its time", async () => {
  const clock = holdClock();
  const { onOver } = start(createAttention(clock), 1000);
  await clock.pass(999);
  await rounds();
  expect(onOver).not.toHaveBeenCalled();
  await clock.pass(1);
  await rounds();
  expect(onOver).toHaveBeenCalledOnce();
});

test("only 100 ms of a stall count", async () => {
  const clock = holdClock();
  const { onOver } = start(createAttention(clock), 1000);
  clock.block(3000);
  await clock.pass(999);
  await rounds();
  expect(onOver).not.toHaveBeenCalled();
  await clock.pass(1);
  await rounds();
  expect(onOver).toHaveBeenCalledOnce();
});

test("a deadline that is ended never passes, and leaves no timer", async () => {
  const clock = holdClock();
  const { end, onOver } = start(createAttention(clock), 1000);
  await clock.pass(600);
  end();
  expect(vi.getTimerCount()).toBe(0);
  await clock.pass(60_000);
  await rounds();
  expect(onOver).not.toHaveBeenCalled();
});

test("an endless chain of timers is a stall too", async () => {
  const startedMs = performance.now();
  const { onOver } = start(createAttention(systemClock), 500);
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const timers = Array.from({ length: 40 }, (_, index) =>
    setTimeout(() => {
      Atomics.wait(nobody, 0, 0, 20);
    }, index),
  );
  await new Promise((resolve) => setTimeout(resolve, timers.length));
  await eventually(() => expect(onOver).toHaveBeenCalledOnce());
  expect(performance.now() - startedMs).toBeGreaterThan(500 + 600);
});
