import type { TimingName } from "../config/timings.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { longestWaitMs } from "../polling/instants.ts";
import { groupBy } from "../../support/group-by.ts";
import { keysOf } from "../../support/keys.ts";
import { createSchedule, lengthMs, usualGapMs } from "../../support/schedule.ts";
import { listedBriefly } from "../../support/text.ts";
import { createTimeFormat } from "../../support/time-zone.ts";
import { lasted } from "../view/time.ts";

/** Whether an appliance has operations of each timing. */
const HAS: Readonly<Record<TimingName, (appliance: ApplianceConfig) => boolean>> = {
  vrrp: () => true,
  websites: ({ websites, discovery }) => websites.length > 0 || discovery !== undefined,
  discovery: ({ discovery }) => discovery !== undefined,
};

/**
 * Returns the longest gap of each schedule that rests, with the time in which values are unknown, by the clocks of `timeZone`; default: the
 * zone of the process, which schedules follow. A schedule that several appliances share is named once.
 */
export function restingSchedules(
  appliances: readonly ApplianceConfig[],
  nowMs: number,
  timeZone?: string,
): readonly string[] {
  const format = createTimeFormat(timeZone);
  return keysOf(HAS).flatMap((name) => {
    const concerned = appliances.filter(HAS[name]);
    const scheduled = concerned.flatMap((appliance) => {
      const timing = appliance.polling[name];
      return timing.kind === "schedule" ? [{ appliance, expression: timing.expression }] : [];
    });
    return [...groupBy(scheduled, ({ expression }) => expression)].flatMap(([expression, all]) => {
      const schedule = createSchedule(expression, timeZone);
      const gap = schedule.longestGap(nowMs);
      const waitMs = longestWaitMs(usualGapMs(schedule, gap.fromMs));
      if (lengthMs(gap) <= waitMs) return [];
      const members = all.map(({ appliance }) => appliance);
      const where = members.length === concerned.length ? "" : ` of ${namesOf(members, concerned)}`;
      const times = [gap.fromMs, gap.toMs, gap.fromMs + waitMs].map((ms) => withWeekday(format(ms)));
      return `polling.${name}${where}, no poll for ${lasted(lengthMs(gap))} from ${times[0]} to ${times[1]}, unknown from ${times[2]}`;
    });
  });
}

/** Returns the clusters of which these are all members, and the names of the other appliances. */
function namesOf(some: readonly ApplianceConfig[], all: readonly ApplianceConfig[]): string {
  const sizes = groupBy(all, ({ cluster }) => cluster);
  const clusters = [...groupBy(some, ({ cluster }) => cluster)];
  return listedBriefly(
    clusters.flatMap(([cluster, members]) =>
      members.length === sizes.get(cluster)?.length ? [cluster] : members.map(({ name }) => name),
    ),
  );
}

function withWeekday(text: string): string {
  const date = new Date(`${text.slice(0, "2026-11-27".length)}T00:00:00Z`);
  return `${date.toUTCString().slice(0, "Fri".length)} ${text}`;
}
