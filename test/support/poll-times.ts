import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import type { ExporterUnderTest } from "./exporter.ts";
import type { Samples } from "./samples.ts";

/** For `pollTimes`: so long a deadline that no machine is too busy for it. */
export const RARELY = { interval: "1d", timeout: "1h" };
/** In it, everything that is polled as `RARELY` says comes due, every pause ends, and no result expires. */
const LEAP_MS = 36 * 3_600_000;

/**
 * Has all operations of these appliances polled so many times: time leaps whenever each was polled once more and no more
 * than `hanging` polls are under way. Resolves to the scrape that shows it.
 */
export async function pollTimes(
  exporter: ExporterUnderTest,
  appliances: readonly string[],
  times: number,
  hanging = 0,
): Promise<Samples> {
  for (let nth = 1; ; nth += 1) {
    const samples = await eventually(async () => {
      const scraped = await exporter.scrape();
      for (const appliance of appliances)
        for (const { value } of scraped.all("appliance_polls_total", { appliance }))
          expect(value).toBeGreaterThanOrEqual(nth);
      expect(scraped.value("appliance_exporter_polls_in_flight")).toBe(hanging);
      return scraped;
    });
    if (nth === times) return samples;
    exporter.leap(LEAP_MS);
  }
}
