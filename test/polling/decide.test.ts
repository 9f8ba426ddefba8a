import { describe, expect, test } from "vitest";
import {
  decide,
  type Decision,
  type Occasion,
  type Circumstances,
  type PollState,
} from "../../src/polling/decide.ts";

/** A website test that may be sent: 100 s after the start, every 30 s, and its latest result counts for 60 s more. */
const FREE: PollState & Circumstances = {
  nowMs: 100_000,
  operation: { kind: "website_test", websiteId: 1 },
  pace: { gapMs: 30_000, timeoutMs: 20_000 },
  progress: "idle",
  outOfTurn: [],
  isOverdue: false,
  latestUntilMs: 160_000,
  hasteMs: undefined,
  backoff: undefined,
  isChecked: false,
  downUntilMs: undefined,
  listDueMs: undefined,
};
const DETAILS = { operation: { kind: "website_details", websiteId: 1 } } as const;
/** Tests every second. */
const HASTENED = { hasteMs: 1000 } as const;
const DOWN = { downUntilMs: 100_001 };
const REFUSED = { backoff: { reason: "auth" }, isChecked: true } as const;
const DEFERRED = { backoff: { reason: "http_status" } } as const;
/** The next turn would come too late for the latest result. */
const LAST_TURN = { latestUntilMs: 157_500 };

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
    ["after another one that was not sent", { ...CONFIRMED, isOverdue: true }, "queue"],
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

describe.each(["due", "confirming", "second_look", "slot", "wait_over"] as const)(
  "a poll, %s",
  (occasion) => {
    test.each(CASES[occasion])("%s", (_, situation, decision) => {
      expect(inWords(decide(occasion, { ...FREE, ...situation }, { ...FREE, ...situation }))).toBe(decision);
    });
  },
);
