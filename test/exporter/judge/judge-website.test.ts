import * as fc from "fast-check";
import { expect, test } from "vitest";
import { resultAfter } from "../../../src/exporter/fleet/website.ts";
import type { ProtocolResult, TestResult } from "../../../src/exporter/fleet/snapshot.ts";
import { judgeWebsite, type MemberTest } from "../../../src/exporter/judge/judge-website.ts";
import type { WebsiteState } from "../../../src/exporter/judge/states.ts";

const viewOf = (isMaster: boolean, words: TestResult | "unstable"): MemberTest => {
  return { isMaster, result: words === "unstable" ? "up" : words, isUnstable: words === "unstable" };
};
const master = (words: TestResult | "unstable"): MemberTest => viewOf(true, words);
const backup = (words: TestResult | "unstable"): MemberTest => viewOf(false, words);
const IN_GROUPS = { hasGroups: true, hasUnwatched: false };

test.each<readonly [WebsiteState, readonly MemberTest[]]>([
  ["up", [master("up"), backup("up")]],
  ["up", [master("up"), backup("unknown")]],
  ["up", [master("up")]],
  ["up", [master("up"), backup("unstable")]],
  ["unstable", [master("unstable"), backup("up")]],
  ["unstable", [master("unstable"), master("up"), backup("unknown")]],
  ["partially_down", [master("unstable"), backup("down")]],
  ["partially_down", [master("up"), backup("down")]],
  ["partially_down", [master("up"), master("unknown"), backup("down")]],
  ["down_at_master", [master("down"), backup("up")]],
  ["down_at_master", [master("down"), master("up")]],
  ["down_at_master", [master("down"), master("unstable")]],
  ["down", [master("down"), backup("down")]],
  ["down", [master("down"), backup("unknown")]],
  ["down", [master("unknown"), backup("down")]],
  ["unknown", [master("unknown"), backup("up")]],
  ["unknown", [backup("up"), backup("up")]],
  ["unknown", [backup("up"), backup("down")]],
  ["unknown", [master("unknown"), backup("unknown")]],
  ["unknown", []],
])("in a cluster with groups: %s by %j", (state, views) => {
  expect(judgeWebsite(views, IN_GROUPS)).toBe(state);
});

test.each<readonly [WebsiteState, readonly MemberTest[]]>([
  ["up", [backup("up")]],
  ["up", [backup("up"), backup("unknown")]],
  ["unstable", [backup("up"), backup("unstable")]],
  ["down", [backup("down")]],
  ["partially_down", [backup("up"), backup("down")]],
  ["unknown", [backup("unknown")]],
])("without groups: %s by %j", (state, views) => {
  expect(judgeWebsite(views, { hasGroups: false, hasUnwatched: false })).toBe(state);
});

test("there is no verdict where only a disabled appliance can be the master, unless all others find it down", () => {
  const context = { hasGroups: true, hasUnwatched: true };
  expect(judgeWebsite([backup("up")], context)).toBeUndefined();
  expect(judgeWebsite([backup("down")], context)).toBe("down");
  expect(judgeWebsite([master("unknown"), backup("up")], context)).toBe("unknown");
});

test.each<readonly [results: readonly TestResult[], confirmed: readonly TestResult[]]>([
  [["down"], ["down"]],
  [
    ["up", "down", "down"],
    ["up", "up", "down"],
  ],
  [
    ["up", "down", "up", "down"],
    ["up", "up", "up", "up"],
  ],
  [
    ["up", "unknown", "unknown", "up"],
    ["up", "up", "unknown", "up"],
  ],
  [
    ["up", "down", "unknown"],
    ["up", "up", "unknown"],
  ],
  [
    ["up", "unknown", "down"],
    ["up", "up", "down"],
  ],
  [
    ["unknown", "down", "down"],
    ["unknown", "unknown", "down"],
  ],
  [
    ["down", "unknown", "down", "unknown", "unknown"],
    ["down", "down", "down", "down", "unknown"],
  ],
])("tests that find %j count as %j", (results, confirmed) => {
  expect(after(results).map(({ result }) => result)).toEqual(confirmed);
});

const HOUR_MS = 3_600_000;

/** What is known after each of these tests, one an hour. */
function after(tests: readonly TestResult[]): readonly ProtocolResult[] {
  let before: ProtocolResult | undefined;
  return tests.map(
    (latest, nth) => (before = resultAfter(before, { protocol: "https", latest }, nth * HOUR_MS)),
  );
}

test("a website that was down three times in fifteen minutes is unstable until fifteen minutes after the first", () => {
  const [down, up] = ["down", "up"] as const;
  const minutes = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 15.9, 16];
  const results = [up, down, down, up, down, down, up, down, down, up, up, up] as const;
  let before: ProtocolResult | undefined;
  const known = results.map((latest, nth) => {
    before = resultAfter(before, { protocol: "https", latest }, (minutes[nth] ?? 0) * 60_000);
    return [minutes[nth], before.result, before.isUnstable];
  });
  expect(known.filter(([, , isUnstable]) => isUnstable)).toEqual([
    [9, down, true],
    [10, up, true],
    [15.9, up, true],
    [16, up, true],
  ]);
  expect(resultAfter(before, { protocol: "https", latest: up }, 17.1 * 60_000).isUnstable).toBe(false);
});

/** What counts after these tests, by the text of docs/reference/metrics.md instead of step by step. */
function countingAfter(tests: readonly TestResult[]): TestResult | undefined {
  const lastUp = tests.lastIndexOf("up");
  const since = tests.slice(lastUp + 1);
  if (since.length < 2 && lastUp >= 0) return "up";
  // The first that counts, and each that was found by two tests in a row.
  const first = lastUp < 0 ? 0 : 1;
  return since.findLast((found, nth) => nth === first || (nth > first && found === since[nth - 1]));
}

/** How many of the last ten tests found it up after a single test that found it down. */
function refutationsAfter(tests: readonly TestResult[]): number {
  return tests.filter(
    (found, nth) =>
      nth >= tests.length - 10 && found === "up" && tests[nth - 1] === "down" && tests[nth - 2] === "up",
  ).length;
}

const manyTests = fc.array(fc.constantFrom<TestResult>("up", "up", "up", "down", "unknown"), {
  minLength: 1,
  maxLength: 60,
});

test("whatever tests find, what counts is as documented", () => {
  fc.assert(
    fc.property(manyTests, (tests) => {
      const prefixes = tests.map((_, nth) => tests.slice(0, nth + 1));
      expect(after(tests).map(({ result }) => result)).toEqual(prefixes.map(countingAfter));
    }),
  );
});

test("whatever tests find, a website is unstable from three refuted failures of ten tests on, until none is left", () => {
  fc.assert(
    fc.property(manyTests, (tests) => {
      const counts = tests.map((_, nth) => refutationsAfter(tests.slice(0, nth + 1)));
      const isUnstable = counts.map((_, nth) => {
        const steady = counts.slice(0, nth + 1).lastIndexOf(0);
        return counts.slice(steady + 1, nth + 1).some((count) => count >= 3);
      });
      expect(after(tests).map((each) => each.isUnstable)).toEqual(isUnstable);
    }),
    { numRuns: 500 },
  );
});

const repeated = (times: number, ...tests: readonly TestResult[]) =>
  Array.from({ length: times }, () => tests).flat();

test.each<readonly [what: string, tests: readonly TestResult[], isUnstable: boolean]>([
  ["fails every second time", repeated(20, "up", "down"), true],
  ["fails every second time with its first test", repeated(20, "down", "up"), true],
  ["fails every third time", repeated(20, "up", "up", "down"), true],
  ["has no result every second time", repeated(20, "up", "unknown"), false],
  ["is down, without a result and up in turn", repeated(20, "down", "unknown", "up"), false],
  ["fails once", [...repeated(5, "up"), "down", ...repeated(5, "up")], false],
  ["recovers from an outage", [...repeated(9, "up"), ...repeated(9, "down"), "up"], false],
  ["recovers from several outages", repeated(9, "up", "down", "down"), false],
  ["failed every second time ten tests ago", [...repeated(9, "up", "down"), ...repeated(11, "up")], false],
])("a website that %s", (_, tests, isUnstable) => {
  expect(after(tests).at(-1)?.isUnstable).toBe(isUnstable);
});

test("tests that find a website up leave what is known of it the same object", () => {
  const [first, ...others] = after([...repeated(3, "up", "down"), ...repeated(12, "up")]).slice(-2);
  expect(others[0]).toBe(first);
});
