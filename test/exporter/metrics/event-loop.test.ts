import { createHistogram } from "node:perf_hooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { nextTurnSeconds, watchEventLoop, WINDOW_MS } from "../../../src/exporter/metrics/event-loop.ts";

const MILLISECOND = 1_000_000;

/** A watch of an event loop that has the delays that the test reports. */
function watched() {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const histograms: ReturnType<typeof createHistogram>[] = [];
  const delays = watchEventLoop(() => {
    const histogram = createHistogram();
    histograms.push(histogram);
    return histogram;
  });
  const report = (milliseconds: number): void => {
    for (const histogram of histograms) histogram.record(milliseconds * MILLISECOND);
  };
  const maxMs = (): number | undefined => {
    const max = delays()?.max;
    return max === undefined ? undefined : Math.round(max * 1000);
  };
  return { delays, report, maxMs };
}

test("no delay is known before the first one", () => {
  expect(watched().delays()).toBe(undefined);
});

test("the statistics are in seconds", () => {
  const { delays, report } = watched();
  for (const milliseconds of [10, 10, 10, 10, 60]) report(milliseconds);
  const rounded = Object.entries(delays() ?? {}).map(([name, value]) => [name, value.toFixed(2)]);
  expect(Object.fromEntries(rounded)).toEqual({
    min: "0.01",
    max: "0.06",
    mean: "0.02",
    stddev: "0.02",
    p50: "0.01",
    p90: "0.06",
    p99: "0.06",
  });
});

test("every reader gets the same, from the start on", () => {
  const { delays, report } = watched();
  report(10);
  const first = delays();
  expect(first).not.toBe(undefined);
  expect(delays()).toEqual(first);
});

test("a delay is known for one to two minutes", () => {
  const { report, maxMs } = watched();
  const seen: (number | undefined)[] = [];
  report(50);
  vi.advanceTimersByTime(WINDOW_MS - 1);
  report(20);
  vi.advanceTimersByTime(1);
  seen.push(maxMs());
  report(10);
  vi.advanceTimersByTime(WINDOW_MS - 1);
  seen.push(maxMs());
  vi.advanceTimersByTime(1);
  // Both of the first minute are over.
  seen.push(maxMs());
  vi.advanceTimersByTime(WINDOW_MS);
  seen.push(maxMs());
  report(30);
  seen.push(maxMs());
  expect(seen).toEqual([50, 50, 10, undefined, 30]);
});

test("the real event loop has delays, which its next turn measures too", async () => {
  const delays = watchEventLoop();
  await vi.waitFor(() => expect(delays()).not.toBe(undefined));
  expect(delays()?.min).toBeLessThan(3600);
  expect(await nextTurnSeconds()).toBeGreaterThanOrEqual(0);
});
