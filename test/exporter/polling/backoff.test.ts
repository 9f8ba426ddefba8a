import { describe, expect, test } from "vitest";
import { createBackoff, type Backoff, type FinishedPoll } from "../../../src/exporter/polling/backoff.ts";
import type { Operation } from "../../../src/exporter/api/operation.ts";
import { failureOf } from "../../support/observations.ts";
import { VRRP, website } from "./poller-support.ts";

const OURS = Symbol("credentials");
const OTHERS = Symbol("credentials");
const OK = { ok: true, value: undefined } as const;
const AUTH = { ok: false, failure: failureOf("auth") } as const;

/** A poll of the VRRP list that began and ended at one instant, every 5 s. */
function poll(
  endedMs: number,
  outcome: FinishedPoll["outcome"],
  more: Partial<FinishedPoll> = {},
): FinishedPoll {
  return {
    operation: VRRP,
    outcome,
    credentials: OURS,
    startedMs: endedMs,
    endedMs,
    intervalMs: 5_000,
    ...more,
  };
}
function untilMs(backoff: Backoff, operation: Operation, nowMs: number, listFirstMs = 0): number | undefined {
  return backoff.active(operation, nowMs, listFirstMs)?.untilMs;
}
function after(...polls: readonly FinishedPoll[]): Backoff {
  const backoff = createBackoff();
  for (const one of polls) backoff.settle(one);
  return backoff;
}
function deferred(endedMs: number, retryAfterMs: number, operation = VRRP): FinishedPoll {
  return poll(endedMs, { ok: false, failure: failureOf("http_status", { retryAfterMs }) }, { operation });
}

test("each further refusal doubles the backoff, up to five minutes", () => {
  const backoff = createBackoff();
  let nowMs = 0;
  const lengths: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    backoff.settle(poll(nowMs, AUTH));
    const endMs = untilMs(backoff, VRRP, nowMs) ?? nowMs;
    lengths.push((endMs - nowMs) / 1_000);
    nowMs = endMs + 3_000;
  }
  expect(lengths).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
});

test.each([
  ["began before the refusal", 999, 6_000],
  ["began at the instant of the refusal", 1_000, 6_000],
  ["began after it", 1_001, 18_000],
])("a poll is refused once with one that was in flight beside it: it %s", (_, startedMs, expected) => {
  const backoff = after(poll(1_000, AUTH), poll(8_000, AUTH, { startedMs }));
  expect(untilMs(backoff, VRRP, 1_000)).toBe(expected);
});

test("success of the operation that was refused ends the doubling", () => {
  const backoff = after(poll(0, AUTH), poll(5_000, AUTH), poll(15_000, OK), poll(20_000, AUTH));
  expect(untilMs(backoff, VRRP, 20_000)).toBe(25_000);
});

test("success of a test does not end the doubling of the refused list", () => {
  const succeeded = poll(5_000, OK, TEST_1);
  const backoff = after(poll(0, AUTH), succeeded, poll(5_000, AUTH));
  expect(untilMs(backoff, VRRP, 5_000)).toBe(15_000);
});

const TEST_1 = { operation: website(1), intervalMs: 30_000 };
const TEST_2 = { operation: website(2), intervalMs: 30_000 };

describe("a refused test", () => {
  const LIST_OK = poll(0, OK);
  const LIST_FAILED = poll(1, { ok: false, failure: failureOf("http_status") });
  /** Whether the list and another test back off after a refusal of test 1. */
  test.each<[string, readonly FinishedPoll[], readonly [boolean, boolean]]>([
    ["before the first poll of the list backs off everything", [poll(2, AUTH, TEST_1)], [true, true]],
    ["after a list that succeeded backs off alone", [LIST_OK, poll(2, AUTH, TEST_1)], [false, false]],
    [
      "after a list that failed backs off everything",
      [LIST_OK, LIST_FAILED, poll(2, AUTH, TEST_1)],
      [true, true],
    ],
    [
      "after a list that recovered backs off alone",
      [LIST_FAILED, LIST_OK, poll(2, AUTH, TEST_1)],
      [false, false],
    ],
    [
      "with other credentials than the list's backs off everything",
      [LIST_OK, poll(2, AUTH, { ...TEST_1, credentials: OTHERS })],
      [true, true],
    ],
    ["backs off alone as soon as the list succeeds", [poll(2, AUTH, TEST_1), poll(3, OK)], [false, false]],
    [
      "backs off alone even if the list fails after it",
      [LIST_OK, poll(2, AUTH, TEST_1), { ...LIST_FAILED, startedMs: 3, endedMs: 3 }],
      [false, false],
    ],
  ])("%s", (_, polls, expected) => {
    const backoff = after(...polls);
    expect(untilMs(backoff, website(1), 3)).toBe(30_002);
    const others = [VRRP, website(2)].map((each) => untilMs(backoff, each, 3) !== undefined);
    expect(others).toEqual(expected);
  });

  test("backs off for one interval, doubled at each further refusal up to five minutes, until it succeeds", () => {
    const backoff = after(LIST_OK);
    let nowMs = 0;
    const lengths: number[] = [];
    for (const outcome of [AUTH, AUTH, AUTH, AUTH, AUTH, AUTH, OK, AUTH]) {
      backoff.settle(poll(nowMs, outcome, TEST_1));
      const endMs = untilMs(backoff, website(1), nowMs) ?? nowMs;
      lengths.push((endMs - nowMs) / 1_000);
      nowMs = endMs;
    }
    expect(lengths).toEqual([30, 60, 120, 240, 300, 300, 0, 30]);
  });

  test("of several in flight together each counts for itself, and once for the appliance", () => {
    const second = poll(20, AUTH, { ...TEST_2, startedMs: 0 });
    const alone = after(LIST_OK, poll(10, AUTH, TEST_1), second);
    expect(untilMs(alone, website(1), 20)).toBe(30_010);
    expect(untilMs(alone, website(2), 20)).toBe(30_020);
    const all = after(poll(10, AUTH, TEST_1), second);
    expect(untilMs(all, VRRP, 20)).toBe(30_010);
  });
});

test("after a backoff of the whole appliance the list is polled first: tests back off a little longer", () => {
  const backoff = after(poll(1_000, AUTH));
  expect(untilMs(backoff, VRRP, 1_000, 10_000)).toBe(6_000);
  expect(untilMs(backoff, website(1), 1_000, 10_000)).toBe(16_000);
  backoff.settle(poll(6_000, OK));
  expect(untilMs(backoff, website(1), 6_000, 10_000)).toBeUndefined();
});

test("a failure for another reason neither ends nor extends the backoff", () => {
  const backoff = after(
    poll(0, AUTH),
    poll(4_000, { ok: false, failure: failureOf("timeout") }, { startedMs: -1 }),
  );
  expect(untilMs(backoff, VRRP, 4_000)).toBe(5_000);
});

test("new credentials end the backoff and the doubling", () => {
  const backoff = after(poll(0, AUTH), poll(5_000, AUTH));
  backoff.end("auth");
  expect(untilMs(backoff, VRRP, 5_000)).toBeUndefined();
  backoff.settle(poll(6_000, AUTH));
  expect(untilMs(backoff, VRRP, 6_000)).toBe(11_000);
});

test("an operation that an appliance never had is tried again after an hour, and one that it had in turn", () => {
  const list = { operation: { kind: "website_list" } } as const;
  const missing = poll(10, { ok: false, failure: failureOf("unsupported") }, list);
  expect(untilMs(after(poll(0, OK), missing), list.operation, 10)).toBe(3_600_010);
  expect(untilMs(after(poll(0, OK, list), missing), list.operation, 10)).toBeUndefined();
});

test("a later answer replaces an earlier Retry-After", () => {
  expect(untilMs(after(deferred(0, 60_000), deferred(10, 5_000)), VRRP, 10)).toBe(5_010);
  expect(untilMs(after(deferred(0, 60_000), poll(10, OK)), VRRP, 10)).toBeUndefined();
});

test("the longer of two backoffs counts, and new credentials do not shorten a Retry-After", () => {
  const backoff = after(poll(0, AUTH), deferred(0, 60_000));
  expect(untilMs(backoff, VRRP, 0)).toBe(60_000);
  backoff.end("auth");
  expect(untilMs(backoff, VRRP, 0)).toBe(60_000);
});
