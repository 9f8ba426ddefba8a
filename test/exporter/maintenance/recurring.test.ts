import { getTasks } from "node-cron";
import { expect, test } from "vitest";
import type { MaintenanceConfig } from "../../../src/exporter/config/config.ts";
import { currentOf, type Occurrence } from "../../../src/exporter/maintenance/recurring.ts";
import { createSchedule } from "../../../src/support/schedule.ts";

const MINUTE_MS = 60_000;

function entry(schedule: string, minutes: number, timezone = "Europe/Amsterdam"): MaintenanceConfig {
  const scope = { appliances: ["a"], clusters: [], labels: {} };
  return { name: "n", comment: "n", scope, schedule, timezone, durationMs: minutes * MINUTE_MS };
}

/** Returns the occurrence after an instant. */
function occurrencesOf({ schedule, timezone, durationMs }: MaintenanceConfig): (nowMs: number) => Occurrence {
  const { nextMs } = createSchedule(schedule, timezone);
  return (nowMs) => {
    const beginMs = nextMs(nowMs);
    return { beginMs, endMs: beginMs + durationMs };
  };
}

/** From begin to end, in UTC to the minute. */
function shown(occurrence: Occurrence | undefined): string | undefined {
  return (
    occurrence &&
    [occurrence.beginMs, occurrence.endMs]
      .map((ms) => new Date(ms).toISOString().slice(0, "2026-03-29T00:30".length))
      .join(" to ")
  );
}

const at = (instant: string) => Date.parse(`${instant}Z`);

test.each([
  // Every Sunday at 02:00, for two hours, in summer.
  ["0 0 2 * * 0", 120, "2026-07-04T23:59:59.999", undefined, "2026-07-05T00:00 to 2026-07-05T02:00"],
  [
    "0 0 2 * * 0",
    120,
    "2026-07-05T00:00:00",
    "2026-07-05T00:00 to 2026-07-05T02:00",
    "2026-07-12T00:00 to 2026-07-12T02:00",
  ],
  // Five minutes after its end it is no longer current.
  [
    "0 0 2 * * 0",
    120,
    "2026-07-05T02:05:00",
    "2026-07-05T00:00 to 2026-07-05T02:00",
    "2026-07-12T00:00 to 2026-07-12T02:00",
  ],
  ["0 0 2 * * 0", 120, "2026-07-05T02:05:00.001", undefined, "2026-07-12T00:00 to 2026-07-12T02:00"],
  // In the night in which clocks are set forward, the hour from 02:00 does not exist: 02:30 is an hour after 01:30.
  [
    "0 30 2 * * *",
    60,
    "2026-03-29T01:30:00",
    "2026-03-29T01:30 to 2026-03-29T02:30",
    "2026-03-30T00:30 to 2026-03-30T01:30",
  ],
  ["0 30 2 * * *", 60, "2026-03-29T01:29:59", undefined, "2026-03-29T01:30 to 2026-03-29T02:30"],
  // The work that began before lasts as long as configured, by a watch and not by the clocks.
  [
    "0 0 1 * * *",
    120,
    "2026-03-29T01:59:00",
    "2026-03-29T00:00 to 2026-03-29T02:00",
    "2026-03-29T23:00 to 2026-03-30T01:00",
  ],
  // In the night in which clocks are set back, the hour from 02:00 exists twice: it begins once, in the first.
  [
    "0 30 2 * * *",
    60,
    "2026-10-25T00:30:00",
    "2026-10-25T00:30 to 2026-10-25T01:30",
    "2026-10-26T01:30 to 2026-10-26T02:30",
  ],
  ["0 30 2 * * *", 60, "2026-10-25T01:36:00", undefined, "2026-10-26T01:30 to 2026-10-26T02:30"],
  // Several times a day, over midnight, and on the last day of a month.
  [
    "0 0 6,22 * * *",
    300,
    "2026-01-02T01:00:00",
    "2026-01-01T21:00 to 2026-01-02T02:00",
    "2026-01-02T05:00 to 2026-01-02T10:00",
  ],
  [
    "0 0 23 L * *",
    1440,
    "2026-03-01T21:00:00",
    "2026-02-28T22:00 to 2026-03-01T22:00",
    "2026-03-31T21:00 to 2026-04-01T21:00",
  ],
  // Hourly work goes on through both hours.
  [
    "0 30 * * * *",
    10,
    "2026-10-25T00:30:00",
    "2026-10-25T00:30 to 2026-10-25T00:40",
    "2026-10-25T01:30 to 2026-10-25T01:40",
  ],
  ["0 0 0 29 2 *", 60, "2026-01-01T00:00:00", undefined, "2028-02-28T23:00 to 2028-02-29T00:00"],
])("%s for %d minutes at %s: %s, then %s", (schedule, minutes, now, current, next) => {
  const given = entry(schedule, minutes);
  expect([shown(currentOf(given, at(now))), shown(occurrencesOf(given)(at(now)))]).toEqual([current, next]);
});

test.each([
  ["America/Havana", "2026-11-01T04:30:00", "2026-11-01T04:00 to 2026-11-01T05:00"],
  ["Pacific/Apia", "2026-11-01T11:30:00", "2026-11-01T11:00 to 2026-11-01T12:00"],
  ["Asia/Kathmandu", "2026-11-01T18:15:00", "2026-11-01T18:15 to 2026-11-01T19:15"],
  ["UTC", "2026-11-01T00:59:59", "2026-11-01T00:00 to 2026-11-01T01:00"],
])("midnight in %s", (timezone, now, current) => {
  expect(shown(currentOf(entry("0 0 0 * * *", 60, timezone), at(now)))).toBe(current);
});

test("each occurrence follows the one before, in every hour of a year", () => {
  const given = entry("0 30 2 * * *", 60);
  const nextOf = occurrencesOf(given);
  const found = new Map<number, Occurrence>();
  for (let ms = at("2026-01-01T00:00"); ms < at("2027-01-01T00:00"); ms += 60 * MINUTE_MS) {
    const next = nextOf(ms);
    found.set(next.beginMs, next);
  }
  expect(found.size).toBe(366);
  for (const next of found.values()) expect(currentOf(given, next.beginMs)).toEqual(next);
});

test("leaves no task", () => {
  const before = getTasks().size;
  currentOf(entry("0 0 2 * * *", 60), 0);
  expect(getTasks().size).toBe(before);
});
