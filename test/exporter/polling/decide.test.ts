import { describe, expect, test } from "vitest";
import {
  decide,
  type Decision,
  type Occasion,
  type Circumstances,
  type Task,
} from "../../../src/exporter/polling/decide.ts";
import { NEW } from "../../../src/exporter/polling/task.ts";

/** A website test that may be sent: 100 s after the start, every 30 s, and its latest result counts for 60 s more. */
const FREE: Task & Circumstances = {
  ...NEW,
  poller: { due: () => {}, missed: () => {} },
  nowMs: 100_000,
  operation: { kind: "website_test", websiteId: 1 },
  gapMs: 30_000,
  timeoutMs: 20_000,
  latestUntilMs: 160_000,
  hasteMs: undefined,
  backoff: undefined,
  isChecked: false,
  downUntilMs: undefined,
  returnedMs: -Infinity,
  listDueMs: undefined,
};
const DETAILS = { operation: { kind: "website_details", websiteId: 1 } } as const;
/** Tests every second. */
const HASTENED = { hasteMs: 1000 } as const;
const DOWN = { downUntilMs: 100_001 };
const REFUSED = { backoff: { reason: "auth" }, isChecked: true } as const;
const DEFERRED = { backoff: { reason: "http_status" } } as const;
const LACKED = { backoff: { reason: "unsupported" } } as const;
/** The next turn would come too late for the latest result. */
const LAST_TURN = { latestUntilMs: 157_500 };

const UNSENT = { failing: { latestMs: -Infinity, cutOffMs: -Infinity } };
/** Its latest poll, which began so long ago, failed; the appliance returned `returnedMs` ago. */
const failed = (latestMs: number, returnedMs: number) => ({
  failing: { latestMs: FREE.nowMs - latestMs, cutOffMs: -Infinity },
  returnedMs: FREE.nowMs - returnedMs,
});
/** The same, if the list saw no outage and the operation was cut off so long ago. */
const cutOff = (latestMs: number, cutOffMs: number) => ({
  failing: { latestMs: FREE.nowMs - latestMs, cutOffMs: FREE.nowMs - cutOffMs },
});
const SIX_TIMES = { outOfTurn: Array<Occasion>(6).fill("returned") };

const CONFIRMED = { outOfTurn: ["confirming"] } as const;
const LOOKED_AGAIN = { outOfTurn: ["second_look", "second_look"] } as const;

/** `ignore`, or with what is counted and observed: `reject, skipped backoff, fails as auth`. */
function inWords(decision: Decision): string {
  const { action } = decision;
  if (!("skipped" in decision) && !("failure" in decision)) return action;
  const { skipped, failure } = decision;
  const words = [action, skipped && `skipped ${skipped}`, failure && `fails as ${failure}`];
  return words.filter((word) => word !== undefined).join(", ");
}

type Case = readonly [what: string, situation: Partial<typeof FREE>, decision: string];

const CASES: Readonly<Record<Occasion, readonly Case[]>> = {
  due: [
    ["that is free", {}, "queue"],
    ["while the previous one is in flight", { progress: "in_flight" }, "ignore, skipped overlap"],
    ["while it waits for a slot", { progress: "in_line" }, "ignore, skipped overlap"],
    ["whose wait for a slot has failed", { progress: "unserved" }, "queue"],
    ["of details in flight", { ...DETAILS, progress: "in_flight" }, "ignore, skipped overlap"],
    ["of details that wait for those of other websites", { ...DETAILS, progress: "in_line" }, "ignore"],
    ["of an appliance that is down", DOWN, "reject, fails as appliance_down"],
    ["of an appliance that was down", { downUntilMs: 100_000 }, "queue"],
    [
      "while the list is polled again",
      { downUntilMs: 90_001, listDueMs: 90_000 },
      "reject, fails as appliance_down",
    ],
    ["of the list of an appliance that is down", { ...DOWN, operation: { kind: "vrrp" } }, "queue"],
    ["after a Retry-After", DEFERRED, "reject, skipped backoff"],
    ["of what the appliance lacks", LACKED, "reject, skipped backoff"],
    [
      "after a Retry-After, at the last turn",
      { ...DEFERRED, ...LAST_TURN },
      "reject, skipped backoff, fails as http_status",
    ],
    ["after a refusal", { backoff: REFUSED.backoff }, "check"],
    ["after a refusal of these credentials", REFUSED, "reject, skipped backoff"],
    [
      "after a refusal, at the last turn",
      { ...REFUSED, ...LAST_TURN },
      "reject, skipped backoff, fails as auth",
    ],
    [
      "after a refusal, before the first poll",
      { ...REFUSED, latestUntilMs: undefined },
      "reject, skipped backoff, fails as auth",
    ],
    [
      "after a refusal, whose wait has failed",
      { backoff: REFUSED.backoff, progress: "unserved" },
      "reject, skipped backoff",
    ],
    ["in haste", { ...HASTENED, sentAtMs: 99_100 }, "queue"],
    ["in haste, before the first poll", HASTENED, "queue"],
    ["in haste, too soon after the previous one", { ...HASTENED, sentAtMs: 99_101 }, "ignore"],
    ["in haste, while the previous one is in flight", { ...HASTENED, progress: "in_flight" }, "ignore"],
    ["in haste, while it waits for a slot", { ...HASTENED, progress: "in_line" }, "ignore"],
    ["in haste, whose wait for a slot has failed", { ...HASTENED, progress: "unserved" }, "queue"],
    ["in haste, of an appliance that is down", { ...HASTENED, ...DOWN }, "reject, fails as appliance_down"],
    [
      "in haste, after a refusal of these credentials",
      { ...HASTENED, ...REFUSED },
      "reject, skipped backoff",
    ],
    ["of an appliance that is down and refused", { ...REFUSED, ...DOWN }, "reject, fails as appliance_down"],
  ],
  confirming: [
    ["that is free", {}, "queue"],
    ["after another confirming one", CONFIRMED, "ignore"],
    ["after another one that was not sent", { ...CONFIRMED, ...UNSENT }, "queue"],
    ["after another one that failed", { ...CONFIRMED, ...failed(60_000, 0) }, "ignore"],
    ["after a second look", LOOKED_AGAIN, "queue"],
    ["while the previous one is in flight", { progress: "in_flight" }, "ignore"],
    ["while it waits for a slot", { progress: "in_line" }, "ignore"],
    ["whose wait for a slot has failed", { progress: "unserved" }, "ignore"],
    ["after a refusal", { backoff: REFUSED.backoff }, "ignore"],
    ["of an appliance that is down", DOWN, "reject, fails as appliance_down"],
  ],
  second_look: [
    ["that is free", {}, "queue"],
    ["after a confirming one", CONFIRMED, "queue"],
    ["after two others", LOOKED_AGAIN, "queue"],
    ["after three others", { outOfTurn: [...LOOKED_AGAIN.outOfTurn, "second_look"] }, "ignore"],
    ["while the previous one is in flight", { progress: "in_flight" }, "ignore"],
    ["after a refusal", { backoff: REFUSED.backoff }, "ignore"],
    ["of an appliance that is down", DOWN, "reject, fails as appliance_down"],
  ],
  returned: [
    ["of what succeeded", { returnedMs: FREE.nowMs }, "ignore"],
    ["of what was not sent", UNSENT, "queue"],
    ["of what failed before the appliance returned", failed(2000, 0), "queue"],
    ["of what failed a moment before", failed(1999, 0), "ignore"],
    ["of what failed again 9 s ago, when it returned 20 s ago", failed(9_000, 20_000), "queue"],
    ["of what failed again since then", failed(8_999, 20_000), "ignore"],
    ["of what failed before it returned, ages ago", failed(90_000, 80_000), "queue"],
    ["of what fails where no outage was seen", failed(90_000, Infinity), "ignore"],
    ["of what was cut off 5 s ago", cutOff(5_000, 5_000), "queue"],
    ["of what was cut off 20 s ago, and failed again 9 s ago", cutOff(9_000, 20_000), "queue"],
    ["of what was cut off 20 s ago, and failed again since then", cutOff(8_999, 20_000), "ignore"],
    [
      "of what was cut off long before it returned",
      { ...cutOff(9_000, 90_000), returnedMs: 95_000 },
      "queue",
    ],
    ["after six others", { ...failed(60_000, 0), ...SIX_TIMES }, "ignore"],
    ["after six others, of what was not sent", { ...UNSENT, ...SIX_TIMES }, "queue"],
    ["after five others", { ...failed(60_000, 0), outOfTurn: SIX_TIMES.outOfTurn.slice(1) }, "queue"],
    ["after six of another kind", { ...failed(60_000, 0), outOfTurn: Array(6).fill("second_look") }, "queue"],
    ["while the previous one is in flight", { ...UNSENT, progress: "in_flight" }, "ignore"],
    ["while it waits for a slot", { ...UNSENT, progress: "in_line" }, "ignore"],
    ["after a refusal", { ...UNSENT, backoff: REFUSED.backoff }, "ignore"],
    ["after a Retry-After", { ...failed(60_000, 0), ...DEFERRED }, "ignore"],
    ["of what it lacked", { ...failed(60_000, 0), ...LACKED }, "queue"],
    ["of what it lacks again", { ...failed(8_999, 20_000), ...LACKED }, "ignore"],
    ["of an appliance that is down", { ...UNSENT, ...DOWN }, "reject, fails as appliance_down"],
  ],
  slot: [
    ["that is free", { progress: "in_flight" }, "send"],
    ["of an appliance that is down", { ...DOWN, progress: "in_flight" }, "reject, fails as appliance_down"],
    ["after a refusal", { backoff: REFUSED.backoff, progress: "in_flight" }, "check"],
    [
      "after a refusal of these credentials",
      { ...REFUSED, progress: "in_flight" },
      "reject, skipped backoff",
    ],
  ],
  wait_over: [
    ["for a slot of the fleet", { waitsFor: "website_tests" }, "reject, fails as website_tests"],
    ["for a slot of the appliance", { waitsFor: "appliance_details" }, "reject, fails as appliance_details"],
    [
      "of an appliance that is down",
      { ...DOWN, waitsFor: "website_tests" },
      "reject, fails as appliance_down",
    ],
    [
      "after a refusal",
      { backoff: REFUSED.backoff, ...LAST_TURN, waitsFor: "website_tests" },
      "reject, skipped backoff, fails as auth",
    ],
  ],
};

describe.each(["due", "confirming", "second_look", "returned", "slot", "wait_over"] as const)(
  "a poll, %s",
  (occasion) => {
    test.each(CASES[occasion])("%s", (_, situation, decision) => {
      expect(inWords(decide(occasion, { ...FREE, ...situation }, { ...FREE, ...situation }))).toBe(decision);
    });
  },
);
