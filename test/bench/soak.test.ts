import { expect, test } from "vitest";
import { problemsOf, rowsOf, type Findings } from "../../bench/soak/findings.ts";
import { countersOf, pollsOf, since } from "../../bench/soak/scraped.ts";

const HELD = { before: 20, most: 200, after: 20 };
const STEADY: Findings = {
  seconds: 600,
  scrapes: 1200,
  reloads: 60,
  looks: looksOf(() => 30e6),
  descriptors: HELD,
  timers: HELD,
  instants: { due: 1000, late: 0, skipped: 0, lost: 0 },
  counters: { done: 1001, late: 3, skipped: { overlap: 1, missed: 0 }, failures: { tls: 2 } },
};

/** Looks once a minute for two hours, with what the heap is after so many, and more or fewer descriptors by turns. */
function looksOf(bytesAt: (hours: number, descriptors: number) => number): Findings["looks"] {
  return Array.from({ length: 121 }, (_, minute) => {
    const hours = minute / 60;
    const descriptors = minute < 90 ? 200 : 260;
    return { hours, heapBytes: bytesAt(hours, descriptors), codeBytes: 6e6, descriptors, timers: 100 };
  });
}

test("what stays as it is passes", () => {
  expect(problemsOf(STEADY)).toEqual([]);
});

test("a heap that grows by two megabytes an hour fails, and one that stops growing with its warm-up passes", () => {
  expect(problemsOf({ ...STEADY, looks: looksOf((hours) => 30e6 + 2e6 * hours) })).toEqual([
    "the heap grows",
  ]);
  expect(problemsOf({ ...STEADY, looks: looksOf((hours) => 30e6 + 9e6 * Math.min(1, hours)) })).toEqual([]);
});

test("what more connections hold for a while is no growth", () => {
  const looks = looksOf((_, descriptors) => 30e6 + 20e3 * descriptors);
  expect(problemsOf({ ...STEADY, looks })).toEqual([]);
});

test("more compiled code is no growth", () => {
  const looks = looksOf((hours) => 30e6 + 3e6 * hours);
  expect(
    problemsOf({ ...STEADY, looks: looks.map((look) => ({ ...look, codeBytes: 3e6 * look.hours })) }),
  ).toEqual([]);
});

test("too few samples of the heap fail", () => {
  const problems = problemsOf({ ...STEADY, looks: looksOf((hours) => 30e6 + 1e6 * hours ** 3) });
  expect(problems).toEqual(["too few samples for the slope of the heap"]);
  expect(problemsOf({ ...STEADY, looks: STEADY.looks.slice(0, 5) })).toHaveLength(1);
});

test("one descriptor kept fails, and so does one poll lost, and a time in which nothing was due", () => {
  expect(problemsOf({ ...STEADY, descriptors: { ...HELD, after: 21 } })).toEqual(["descriptors are kept"]);
  expect(problemsOf({ ...STEADY, instants: { ...STEADY.instants, lost: 1 } })).toEqual(["polls were lost"]);
  expect(problemsOf({ ...STEADY, instants: { ...STEADY.instants, due: 0 } })).toHaveLength(1);
});

test("the table has a row for each reason that occurred", () => {
  const rows = new Map(rowsOf(STEADY).map(([what = "", seen = ""]) => [what, seen]));
  expect(rows.get("polls due")).toBe("1000");
  expect(rows.get("descriptors before, most, after")).toBe("20, 200, 20");
  expect(rows.get("heap slope, MB an hour")).toBe("0.00 ± 0.00");
  expect(rows.get("polls failed: tls")).toBe("2");
  expect([...rows.keys()].filter((what) => what.includes("missed"))).toEqual([]);
});

const SCRAPED = `
appliance_polls_total{appliance="a-1",ha_cluster="pair-0",operation="vrrp",site="x"} 7
appliance_polls_total{appliance="a-1",ha_cluster="pair-0",operation="website_test",site="x"} 5
appliance_exporter_poll_lateness_seconds_bucket{operation="vrrp",le="1"} 6
appliance_exporter_poll_lateness_seconds_bucket{operation="vrrp",le="+Inf"} 8
appliance_exporter_poll_lateness_seconds_count{operation="vrrp"} 8
appliance_exporter_polls_skipped_total{reason="overlap"} 3
appliance_exporter_poll_failures_total{operation="vrrp",reason="tls"} 2
appliance_exporter_poll_failures_total{operation="website_test",reason="tls"} 1
`;

test("counters are summed over operations, polls told apart by them", () => {
  expect(countersOf(SCRAPED)).toEqual({ done: 12, late: 2, skipped: { overlap: 3 }, failures: { tls: 3 } });
  expect(pollsOf(SCRAPED)).toEqual([
    { key: "a-1 vrrp", polls: 7 },
    { key: "a-1 website_test", polls: 5 },
  ]);
});

test("what was counted before the start does not count", () => {
  const now = { done: 20, late: 2, skipped: { overlap: 5 }, failures: { tls: 3, dns: 1 } };
  expect(since(countersOf(SCRAPED), now)).toEqual({
    done: 8,
    late: 0,
    skipped: { overlap: 2 },
    failures: { tls: 0, dns: 1 },
  });
});
