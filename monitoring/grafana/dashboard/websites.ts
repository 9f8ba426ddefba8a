import type { ValueMapping } from "@grafana/grafana-foundation-sdk/dashboard";
import { rangeMap, valueMap } from "./mappings.ts";
import { PALETTE } from "./palette.ts";
import {
  firstOf,
  IN_CLUSTER,
  OF_WEBSITE,
  seenInRange,
  VIEW,
  WEBSITE,
  WEBSITE_TEST,
  withLabel,
} from "./promql.ts";

/** The status of websites whose status is not among those expected. */
export const DOWN = `website_http_status{${OF_WEBSITE}} unless website_up{${OF_WEBSITE}} == 1`;
export const UP = `website_up{${OF_WEBSITE}} == 1`;
const NOT_TESTED = `appliance_poll_success{${OF_WEBSITE}, operation="website_test"} == 0`;
const SEEN = seenInRange(VIEW, `website_up{${OF_WEBSITE}}`);
/** From whichever appliance of the cluster. */
const SEEN_BY_ANY = seenInRange(WEBSITE, `website_up{${IN_CLUSTER}, website=~"$website"}`);

/** Tested within the range, and not now. */
const LOST = `${SEEN} and on (${WEBSITE_TEST}) ${NOT_TESTED}`;
const NEVER_SEEN = `group by (${WEBSITE_TEST}) (${NOT_TESTED}) unless on (${WEBSITE_TEST}) ${SEEN}`;

/** Never tested with success within the range; its protocols are those that other appliances of the cluster saw. */
export const NEVER_TESTED = firstOf(
  ...["http", "https"].map(
    (protocol) => `(${withLabel(NEVER_SEEN, "protocol", protocol)}\n  and on (${WEBSITE}) ${SEEN_BY_ANY})`,
  ),
  `(${NEVER_SEEN} unless on (ha_cluster, website_id, website) ${SEEN_BY_ANY})`,
);

/** Websites whose state is not known now: one series for each view. */
const UNKNOWN = firstOf(`(${LOST})`, NEVER_TESTED);

/** What the values of `WEBSITE_STATE` mean. */
export const WEBSITE_MAPPINGS: readonly ValueMapping[] = [
  valueMap([
    { value: 1, text: "up", color: PALETTE.good },
    { value: 0, text: "down: no answer", color: PALETTE.bad },
    { value: -1, text: "unknown", color: PALETTE.unknown },
  ]),
  // The number itself is shown: the status with which it is down.
  rangeMap(100, 999, { color: PALETTE.bad }),
];

/** For each view: 1 while up, the status while down, -1 while unknown; no value while no exporter is scraped. */
export const WEBSITE_STATE = firstOf(
  `min by (${VIEW}) (${DOWN})`,
  `group by (${VIEW}) (${UP})`,
  `-1 * (${UNKNOWN})`,
);

/** The same as text in the label `cell`, with the status in any case; the label `row` names the website. */
export const WEBSITE_CELLS = `group by (row, appliance, cell) (label_join(
label_replace(${cell(DOWN, "down")}, "cell", "no answer, down", "status", "0")
or on (${VIEW})
${cell(`website_http_status{${OF_WEBSITE}} and ${UP}`, "up")}
or on (${VIEW})
${withLabel(UNKNOWN, "cell", "unknown")},
"row", " ", "ha_cluster", "website", "protocol"))`;

function cell(status: string, word: string): string {
  const counted = `count_values by (${VIEW}) ("status", ${status})`;
  return `label_replace(${counted}, "cell", "$1 ${word}", "status", "(.+)")`;
}
