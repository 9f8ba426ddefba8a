import { expect, test } from "vitest";

import {
  backoffAfter,
  NO_BACKOFF,
  pausedUntilMs,
  withoutAuthPause,
  type Backoff,
  type FinishedPoll,
} from "../../src/polling/backoff.ts";
import { failureOf } from "../support/observations.ts";

const OK = { ok: true, value: undefined } as const;
const AUTH = { ok: false, failure: failureOf("auth") } as const;

/** A poll of the VRRP list that began and ended at one instant, every 5 s. */
function poll(
  endedMs: number,
  outcome: FinishedPoll["outcome"],
  more: Partial<FinishedPoll> = {},
): FinishedPoll {
  return { operation: "vrrp", outcome, startedMs: endedMs, endedMs, intervalMs: 5_000, ...more };
}
function after(...polls: readonly FinishedPoll[]): Backoff {
  return polls.reduce(backoffAfter, NO_BACKOFF);
}
function deferred(endedMs: number, retryAfterMs: number, operation = "vrrp"): FinishedPoll {
  return poll(endedMs, { ok: false, failure: failureOf("http_status", { retryAfterMs }) }, { operation });
}

test("nothing rests to begin with, nor after success and ordinary failures", () => {
  const failed = poll(0, { ok: false, failure: failureOf("timeout") });
  expect(pausedUntilMs(NO_BACKOFF, "vrrp", 0)).toBeUndefined();
  expect(pausedUntilMs(after(poll(0, OK), failed, failed), "vrrp", 0)).toBeUndefined();
});

test("refused credentials rest every operation of the appliance for one interval", () => {
  const backoff = after(poll(1_000, AUTH));
  expect(pausedUntilMs(backoff, "vrrp", 1_000)).toBe(6_000);
  expect(pausedUntilMs(backoff, "website_test/1", 5_999)).toBe(6_000);
  expect(pausedUntilMs(backoff, "vrrp", 6_000)).toBeUndefined();
});

test("each further refusal doubles the pause, up to five minutes", () => {
  let backoff = NO_BACKOFF;
  let nowMs = 0;
  const pauses: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    backoff = backoffAfter(backoff, poll(nowMs, AUTH));
    const untilMs = pausedUntilMs(backoff, "vrrp", nowMs) ?? nowMs;
    pauses.push((untilMs - nowMs) / 1_000);
    nowMs = untilMs + 3_000;
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
});

test("an interval of more than five minutes rests for five", () => {
  expect(pausedUntilMs(after(poll(0, AUTH, { intervalMs: 3_600_000 })), "vrrp", 0)).toBe(300_000);
});

test("refusals of polls that were under way when the first came count as one", () => {
  const late = poll(1_200, AUTH, { operation: "website_test/1", startedMs: 900 });
  expect(pausedUntilMs(after(poll(1_000, AUTH), late, late), "vrrp", 1_200)).toBe(6_000);
});

test("success of the operation that was refused ends the doubling", () => {
  const backoff = after(poll(0, AUTH), poll(5_000, AUTH), poll(15_000, OK), poll(20_000, AUTH));
  expect(pausedUntilMs(backoff, "vrrp", 20_000)).toBe(25_000);
});

test("success of another operation does not end the doubling: only that one is refused", () => {
  const refused = { operation: "website_test/1", intervalMs: 30_000 };
  const backoff = after(poll(0, AUTH, refused), poll(30_000, OK), poll(30_000, AUTH, refused));
  expect(pausedUntilMs(backoff, "vrrp", 30_000)).toBe(90_000);
});

test("a failure for another reason neither ends nor lengthens the pause", () => {
  const backoff = after(
    poll(0, AUTH),
    poll(4_000, { ok: false, failure: failureOf("timeout") }, { startedMs: -1 }),
  );
  expect(pausedUntilMs(backoff, "vrrp", 4_000)).toBe(5_000);
});

test("new credentials end the pause and the doubling", () => {
  const backoff = withoutAuthPause(after(poll(0, AUTH), poll(5_000, AUTH)));
  expect(pausedUntilMs(backoff, "vrrp", 5_000)).toBeUndefined();
  expect(pausedUntilMs(backoffAfter(backoff, poll(6_000, AUTH)), "vrrp", 6_000)).toBe(11_000);
});

test("Retry-After rests its operation and no other", () => {
  const backoff = after(deferred(1_000, 60_000, "website_test/1"));
  expect(pausedUntilMs(backoff, "website_test/1", 1_000)).toBe(61_000);
  expect(pausedUntilMs(backoff, "website_test/2", 1_000)).toBeUndefined();
  expect(pausedUntilMs(backoff, "vrrp", 1_000)).toBeUndefined();
});

test.each([86_400_000, Number.POSITIVE_INFINITY])(
  "Retry-After rests at most five minutes, not %d ms",
  (retryAfterMs) => {
    expect(pausedUntilMs(after(deferred(0, retryAfterMs)), "vrrp", 0)).toBe(300_000);
  },
);

test("a later answer replaces what Retry-After asked for", () => {
  expect(pausedUntilMs(after(deferred(0, 60_000), deferred(10, 5_000)), "vrrp", 10)).toBe(5_010);
  expect(pausedUntilMs(after(deferred(0, 60_000), poll(10, OK)), "vrrp", 10)).toBeUndefined();
});

test("the longer of two pauses counts, and new credentials do not shorten what Retry-After asked for", () => {
  const backoff = after(poll(0, AUTH), deferred(0, 60_000));
  expect(pausedUntilMs(backoff, "vrrp", 0)).toBe(60_000);
  expect(pausedUntilMs(withoutAuthPause(backoff), "vrrp", 0)).toBe(60_000);
});
