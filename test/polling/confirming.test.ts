import { expect, test } from "vitest";
import { needsConfirmingPoll, type Turn } from "../../src/polling/confirming.ts";

const TURN: Turn = { nowMs: 10_000, nextDueMs: 14_000, backoffUntilMs: undefined, isPlanned: false };

test.each<readonly [name: string, given: Partial<Turn>, isNeeded: boolean]>([
  ["long before the next regular poll", {}, true],
  ["where no regular poll is planned", { nextDueMs: undefined }, true],
  ["where the regular poll is due at the same time", { nextDueMs: 11_000 }, false],
  ["where the regular poll is due earlier", { nextDueMs: 10_200 }, false],
  ["while one is planned", { isPlanned: true }, false],
  ["during backoff", { backoffUntilMs: 10_001 }, false],
])("a poll that confirms an answer after a second: %s", (_, given, isNeeded) => {
  expect(needsConfirmingPoll({ ...TURN, ...given }, 1000)).toBe(isNeeded);
});
