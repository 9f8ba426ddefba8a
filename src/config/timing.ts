import { byTiming, TIMINGS, type TimingName } from "../api/operation.ts";
import type { OperationTiming, PollingConfig } from "./config.ts";
import type { Report } from "./errors.ts";
import type { Place } from "./places.ts";
import { shortestGapMs } from "./schedule.ts";
import type { PollingSettings } from "./schema.ts";
import { errorAt } from "./yaml.ts";

type PollingPlace = Place<{ readonly polling?: PollingSettings | undefined }>;

/** The merged settings of an operation, and the innermost place that has some. */
type MergedTiming = NonNullable<PollingSettings[TimingName]> & { readonly place?: PollingPlace };

/** The settings of one or several `polling` blocks. */
export type MergedPolling = Omit<PollingSettings, TimingName> & Readonly<Record<TimingName, MergedTiming>>;

/** The outer settings, overridden by those of a place key by key. */
export function overridePolling(outer: MergedPolling, place: PollingPlace): MergedPolling {
  const { polling } = place.settings;
  if (polling === undefined) return outer;
  const timings = byTiming((name): MergedTiming => {
    const { [name]: block } = polling;
    if (block === undefined) return outer[name];
    // An interval displaces an outer schedule, and the other way round.
    const { interval, schedule } = (block.interval ?? block.schedule) === undefined ? outer[name] : block;
    return { interval, schedule, timeout: block.timeout ?? outer[name].timeout, place };
  });
  return { ...outer, ...polling, ...timings };
}

const DEFAULT_WEBSITE_TESTS_PER_APPLIANCE = 4;

/** When the operations are due and how long they may take; reports timeouts that are too long. */
export function resolvePolling(merged: MergedPolling, report: Report): PollingConfig {
  const { max_concurrent_website_tests_per_appliance: tests } = merged;
  return {
    ...byTiming((name) => resolveTiming(name, merged[name], report)),
    maxConcurrentWebsiteTests: tests ?? DEFAULT_WEBSITE_TESTS_PER_APPLIANCE,
  };
}

/** A default timeout is at most the interval or the shortest gap of the schedule; a longer explicit timeout is an error. */
function resolveTiming(
  name: TimingName,
  { interval: intervalMs = TIMINGS[name].intervalMs, schedule, timeout, place }: MergedTiming,
  report: Report,
): OperationTiming {
  const gapMs = schedule === undefined ? intervalMs : shortestGapMs(schedule);
  const timeoutMs = timeout ?? Math.min(TIMINGS[name].timeoutMs, gapMs);
  if (timeoutMs > gapMs && place !== undefined) {
    const message = `expected a timeout of at most the time between two polls, ${gapMs / 1_000}s`;
    report(errorAt(place.file, [...place.path, "polling", name], message));
  }
  return schedule === undefined
    ? { kind: "interval", intervalMs, timeoutMs }
    : { kind: "schedule", expression: schedule, timeoutMs };
}
