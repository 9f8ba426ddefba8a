import { expect, test } from "vitest";
import { restingSchedules } from "../../../src/exporter/command/schedules.ts";
import type { ApplianceConfig, OperationTiming } from "../../../src/exporter/config/config.ts";
import { applianceOf, websiteOf } from "../../support/observations.ts";

const NOW_MS = Date.parse("2026-11-28T12:00:00Z");
const OFFICE_HOURS = "*/5 * 8-17 * * 1-5";

function polled(name: string, cluster: string, timings: Readonly<Record<string, string>>): ApplianceConfig {
  const { polling } = applianceOf({ name });
  const scheduled = Object.entries(timings).map(([timing, expression]) => {
    return [timing, { kind: "schedule", expression, timeoutMs: 1000 } satisfies OperationTiming] as const;
  });
  return applianceOf({
    name,
    cluster,
    websites: [websiteOf({ id: 1 })],
    polling: { ...polling, ...Object.fromEntries(scheduled) },
  });
}

const restsAt = (timeZone: string, ...appliances: readonly ApplianceConfig[]) =>
  restingSchedules(appliances, NOW_MS, timeZone);

const WEEKEND =
  "no poll for 2 d 15 h from Fri 2026-12-04 17:59:55 -05:00 to Mon 2026-12-07 08:00:00 -05:00, unknown from Fri 2026-12-04 18:04:55 -05:00";

test("a schedule that all appliances share is named once, with its longest gap", () => {
  const [a, b] = ["a", "b"].map((name) => polled(name, "ams", { vrrp: OFFICE_HOURS }));
  expect(restsAt("America/New_York", ...[a, b].flatMap((each) => each ?? []))).toEqual([
    `polling.vrrp, ${WEEKEND}`,
  ]);
});

test("a schedule of a part of the fleet names its clusters, or the appliances of a part of one", () => {
  const appliances = [
    polled("a", "ams", { vrrp: OFFICE_HOURS }),
    polled("b", "ams", { vrrp: OFFICE_HOURS }),
    polled("c", "rtm", { vrrp: OFFICE_HOURS, websites: "0 0 0-5 * * *" }),
    polled("d", "rtm", {}),
  ];
  expect(restsAt("America/New_York", ...appliances)).toEqual([
    `polling.vrrp of ams and c, ${WEEKEND}`,
    "polling.websites of c, no poll for 19 h 0 min from Sun 2026-11-29 05:00:00 -05:00 to Mon 2026-11-30 00:00:00 -05:00, unknown from Sun 2026-11-29 07:00:00 -05:00",
  ]);
});

test.each([
  ["each five seconds", "*/5 * * * * *"],
  ["once a day", "0 0 3 * * *"],
  ["on workdays, once", "0 0 8 * * 1-4,5,6"],
  ["after five minutes at most", "0-10/10 */5 * * * *"],
])("a schedule that is due %s is no news", (_, expression) => {
  expect(restsAt("Europe/Amsterdam", polled("a", "ams", { vrrp: expression }))).toEqual([]);
});

test("a schedule of what an appliance has not is no news", () => {
  const { polling, ...rest } = polled("a", "ams", { websites: OFFICE_HOURS, discovery: OFFICE_HOURS });
  expect(restsAt("UTC", { ...rest, polling, websites: [] })).toEqual([]);
});
