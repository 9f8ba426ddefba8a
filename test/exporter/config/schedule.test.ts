import { createTask, getTasks } from "node-cron";
import { expect, test } from "vitest";
import { checkSchedule, shortestGapMs } from "../../../src/exporter/config/values.ts";

test.each([
  ["*/10 * * * * *", 10_000],
  ["* * * * * *", 1_000],
  ["0 * * * * *", 60_000],
  ["0 */15 * * * *", 900_000],
  ["0 0 3 * * *", 86_400_000],
  ["0 0 0 1,15 * *", 86_400_000],
  ["0,59 0,59 * * * *", 1_000],
  ["0 0 22-2/2 * * *", 7_200_000],
  ["0 0 0 L * ?", 86_400_000],
  ["0 0 0 * * FriL,1#2", 86_400_000],
])("%s is valid; its runs are at least %d ms apart", (expression, gapMs) => {
  expect(checkSchedule(expression)).toBeUndefined();
  expect(shortestGapMs(expression)).toBe(gapMs);
});

test.each([
  "*/10 * * * * *",
  "10,15,50 * * * * *",
  "0,59 0,59 * * * *",
  "30 0,59 0,23 * * *",
  "0 0 22-2/2 * * *",
])("the shortest gap of %s is the one that node-cron keeps", (expression) => {
  const task = createTask(expression, () => undefined);
  const runs = task.getNextRuns(200).map((date) => date.getTime());
  void task.destroy();
  const gaps = runs.slice(1).map((run, index) => run - (runs[index] ?? 0));
  expect(Math.min(...gaps)).toBe(shortestGapMs(expression));
});

const TOO_LARGE = "expected a node-cron expression with numbers of two digits";

test.each([
  ["* * * * *", 'expected six fields, seconds first, such as "*/10 * * * * *", got 5'],
  ["61 * * * * *", "expected a node-cron expression: 61 is not a second"],
  [
    "0\t0 1 * * *",
    "expected a node-cron expression: single spaces between its fields; digits, * / , - and names of days and months in them",
  ],
  ["0 0 0 30 2 *", "expected a node-cron expression: 30 is not a day of the month"],
  ["0 0 0 1 1 1#5", "expected a date that recurs"],
  ["0 0 0 L-30 2 *", "expected a date that recurs"],
  ["0-999999999 * * * * *", TOO_LARGE],
  [
    "0 0 0 0 13 8",
    "expected a node-cron expression: 0 is not a day of the month; 13 is not a month; 8 is not a day of the week",
  ],
  ["0 0 0 1 1-dec999999999 *", TOO_LARGE],
  ["*/0 * * * * *", "expected a node-cron expression: */0 is not a second"],
  [`${"0,".repeat(45)}60 * * * * *`, `expected a node-cron expression: ${"0,".repeat(45)}60 is not a second`],
])("%j is invalid: %s", (expression, message) => {
  expect(checkSchedule(expression)).toBe(message);
});

test("checking leaves no task", () => {
  const before = getTasks().size;
  checkSchedule("*/10 * * * * *");
  checkSchedule("0 0 0 1 1 1#5");
  expect(getTasks().size).toBe(before);
});
