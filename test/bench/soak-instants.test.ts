import { expect, test } from "vitest";
import { createInstantCounter, type InstantCounts } from "../../bench/soak/instants.ts";
import { nextOnGrid } from "../../src/polling/schedule.ts";

const INTERVAL_MS = 5000;
const TURN = { key: "a vrrp", phaseKey: "a", intervalMs: INTERVAL_MS };
const FIRST_MS = nextOnGrid(TURN.phaseKey, INTERVAL_MS, 0);

interface Course {
  /** When polls end, in intervals after the first instant. */
  readonly ends: readonly number[];
  /** When the exporter counts a skip. */
  readonly skips?: readonly number[];
  /** When a poll begins late. */
  readonly lateBegins?: readonly number[];
  /** From one look to the next; default: a tenth of an interval. */
  readonly lookEvery?: number;
}

/** What is counted of ten intervals. */
function counted({ ends, skips = [], lateBegins = [], lookEvery = 0.1 }: Course): InstantCounts {
  const counter = createInstantCounter([TURN], 0);
  for (let at = -0.5; at < 9.9; at += lookEvery) {
    const passed = (instants: readonly number[]): number =>
      instants.filter((instant) => instant <= at).length;
    const polls = new Map([[TURN.key, 100 + passed(ends)]]);
    counter.add({
      atMs: FIRST_MS + at * INTERVAL_MS,
      polls,
      skipped: passed(skips),
      begunLate: passed(lateBegins),
    });
  }
  return counter.counts();
}

/** Polls that end a little after their instants, and at other times instead where that is said. */
function endsBut(instead: Readonly<Record<number, readonly number[]>>): readonly number[] {
  return Array.from({ length: 11 }, (_, instant) => instead[instant] ?? [instant + 0.02]).flat();
}

test("polls that end early and late by turns are all there, whether they are looked at often or seldom", () => {
  const ends = Array.from({ length: 11 }, (_, instant) => instant + (instant % 2 === 0 ? 0.01 : 0.6));
  for (const lookEvery of [0.05, 0.1, 0.3]) {
    expect(counted({ ends, lookEvery })).toEqual({ due: 8, late: 0, skipped: 0, lost: 0 });
  }
});

test("each poll that was not made is lost", () => {
  expect(counted({ ends: endsBut({ 4: [] }) })).toMatchObject({ due: 8, lost: 1 });
  expect(counted({ ends: endsBut({ 0: [] }) })).toMatchObject({ lost: 1 });
  expect(counted({ ends: endsBut({ 3: [], 4: [], 7: [] }) })).toMatchObject({ lost: 3 });
});

test("polls that never come again are lost", () => {
  expect(counted({ ends: [0.1, 1.1] })).toEqual({ due: 8, late: 0, skipped: 0, lost: 6 });
});

test("polls out of turn hide no loss at another instant", () => {
  expect(counted({ ends: endsBut({ 1: [1.02, 1.5], 4: [], 7: [7.02, 7.2, 7.4] }) })).toMatchObject({
    lost: 1,
    late: 0,
  });
});

test("a poll that ends after the next instant is late, not lost", () => {
  expect(counted({ ends: endsBut({ 4: [5.2] }) })).toEqual({ due: 8, late: 1, skipped: 0, lost: 0 });
});

test("where polls begin late, they may follow one another an interval late for some time", () => {
  const ends = endsBut({ 2: [], 3: [3.1], 4: [4.1], 5: [5.1, 5.3] });
  expect(counted({ ends, lateBegins: [3] })).toMatchObject({ late: 1, lost: 0 });
  expect(counted({ ends })).toMatchObject({ late: 0, lost: 1 });
  expect(counted({ ends, lateBegins: [1] })).toMatchObject({ late: 0, lost: 1 });
});

test("a poll that the exporter counted as skipped is not lost, but a skip long before excuses nothing", () => {
  expect(counted({ ends: endsBut({ 4: [] }), skips: [4.01] })).toMatchObject({ skipped: 1, lost: 0 });
  expect(counted({ ends: endsBut({ 4: [] }), skips: [1.01] })).toMatchObject({ skipped: 0, lost: 1 });
});

test("one skip excuses one poll", () => {
  expect(counted({ ends: endsBut({ 4: [], 5: [] }), skips: [4.01] })).toMatchObject({ skipped: 1, lost: 1 });
});

test("instants that pass between two looks are counted, and their polls too", () => {
  expect(counted({ ends: endsBut({}), lookEvery: 2.3 }).lost).toBe(0);
  expect(counted({ ends: endsBut({ 4: [] }), lookEvery: 2.3 }).lost).toBe(1);
});
