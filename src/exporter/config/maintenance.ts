import { parse as parseCron } from "node-cron";
import { keysOf } from "../../support/keys.ts";
import { listedBriefly } from "../../support/text.ts";
import type { ApplianceConfig, MaintenanceConfig } from "./config.ts";
import { reportDuplicates } from "./resolve.ts";
import type { ConfigSettings } from "./schema.ts";
import { items, type Place } from "./validate.ts";
import { shortestGapMs } from "./values.ts";

/** Returns the recurring windows of the main file; reports names and labels that no appliance has, and windows without an end. */
export function resolveMaintenance(
  top: Place<ConfigSettings>,
  all: readonly ApplianceConfig[],
): readonly MaintenanceConfig[] {
  const known = {
    appliances: new Set(all.map(({ name }) => name)),
    clusters: new Set(all.map(({ cluster }) => cluster)),
  };
  const places = items(top, "maintenance", top.settings.maintenance);
  reportDuplicates(places, "name");
  return places.map(({ file, path, settings }) => {
    const { name, comment = name, labels = {}, schedule, timezone, duration: durationMs } = settings;
    for (const key of keysOf(known)) {
      const there = `there are ${listedBriefly([...known[key]])}`;
      for (const [nth, each] of (settings[key] ?? []).entries())
        if (!known[key].has(each)) file.report([...path, key, nth], `no such name; ${there}`);
    }
    const wanted = Object.entries(labels);
    const hasWanted = (has: ApplianceConfig["labels"]) =>
      wanted.every(([label, value]) => has[label] === value);
    if (wanted.length > 0 && !all.some((each) => hasWanted(each.labels)))
      file.report([...path, "labels"], "no appliance has these labels");
    if (isEndless(schedule, durationMs))
      file.report([...path, "duration"], "expected a duration shorter than the time between two occurrences");
    const { appliances = [], clusters = [] } = settings;
    return { name, comment, scope: { appliances, clusters, labels }, schedule, timezone, durationMs };
  });
}

/** Whether a window ends only when the next one begins, or later. */
function isEndless(schedule: string, durationMs: number): boolean {
  const gapMs = shortestGapMs(schedule);
  const { dayOfMonth, month, dayOfWeek } = parseCron(schedule);
  const isDaily = dayOfMonth.length * month.length * dayOfWeek.length === 31 * 12 * 7;
  return durationMs > gapMs || (isDaily && durationMs === gapMs);
}
