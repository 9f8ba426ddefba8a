import type { Shown } from "./mappings.ts";
import { PALETTE } from "./palette.ts";
import { firstOf, seenInRange } from "./promql.ts";

const SCRAPED = "job, instance";

/** Exporters that were scraped within the range and cannot be now. */
export const EXPORTER_GONE = `up == 0 and on (${SCRAPED}) ${seenInRange(SCRAPED, "appliance_exporter_build_info")}`;

export const EXPORTER_STATES: readonly Shown[] = [
  { value: 1, text: "runs as configured", color: PALETTE.good },
  { value: 0, text: "configuration refused", color: PALETTE.warning },
  { value: -1, text: "not scraped", color: PALETTE.bad },
];

/** One of `EXPORTER_STATES` for each exporter. */
export const EXPORTER_STATE = firstOf(
  `max by (${SCRAPED}) (appliance_exporter_config_last_reload_successful)`,
  `-1 * group by (${SCRAPED}) (${EXPORTER_GONE})`,
);

/** Of exporters only: other programs have metrics of these names as well. */
export function ofExporters(expression: string): string {
  return `${expression} and on (${SCRAPED}) appliance_exporter_build_info`;
}

/** With the version of the exporter in its labels. */
export function withVersion(expression: string): string {
  return `max by (${SCRAPED}, version, nodeversion) (
  ${expression} * on (${SCRAPED}) group_left (version, nodeversion) appliance_exporter_build_info
)`;
}
