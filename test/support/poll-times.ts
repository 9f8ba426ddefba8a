import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import type { ExporterUnderTest } from "./exporter.ts";
import type { Samples } from "./samples.ts";

/** A deadline for `pollTimes` that is long enough for the busiest machine. */
export const RARELY = { interval: "10m", timeout: "5m" };
/** In this time everything with the interval `RARELY` becomes due, every backoff ends, and no result expires. */
const LEAP_MS = 15 * 60_000;

interface Polled {
  readonly appliances: readonly string[];
  /** The operation; default: all. */
  readonly operation?: "vrrp";
  readonly times: number;
  /** Polls that never end; default: none. */
  readonly hanging?: number;
}

/**
 * Lets operations of some appliances be polled this many times: time leaps whenever each was polled once more and only
 * polls that never end are in flight. Resolves to the scrape that shows it.
 */
export async function pollTimes(
  exporter: ExporterUnderTest,
  { appliances, operation, times, hanging = 0 }: Polled,
): Promise<Samples> {
  const wanted = operation === undefined ? {} : { operation };
  for (let nth = 1; ; nth += 1) {
    const samples = await eventually(async () => {
      const scraped = await exporter.scrape();
      const polls = scraped
        .all("appliance_polls_total", wanted)
        .filter(({ labels }) => appliances.includes(labels["appliance"] ?? ""));
      expect(polls.filter(({ value }) => value < nth)).toEqual([]);
      expect(scraped.value("appliance_exporter_polls_in_flight")).toBe(hanging);
      return scraped;
    });
    if (nth === times) return samples;
    exporter.leap(LEAP_MS);
  }
}
