import { OF_WEBSITE, shareOf, WEBSITE, WEBSITE_STATE, WEBSITE_STATES } from "../expressions.ts";
import { COLOR, table, timeline, type Row, type State } from "../panels.ts";

/** A website at one appliance. */
const SITE = "ha_cluster, website_id, website, appliance";
const VIEWED = `appliance=~"$appliance", ${OF_WEBSITE}`;
const SHARE = { unit: "percentunit", decimals: 2 } as const;

const IS_UP: readonly State[] = [
  { value: 1, text: "up", color: COLOR.good },
  { value: 0, text: "down", color: COLOR.bad },
];

export const WEBSITES: Row = {
  title: "Websites",
  collapsed: false,
  panels: [
    timeline({
      title: "Websites that had a problem",
      description:
        "The websites that were not up for their visitors at some time within the range, as the exporters judge it. If they differ, the worst counts. A gap: no exporter was scraped. Empty if no website had a problem.",
      expr: WEBSITE_STATE,
      legend: "{{ha_cluster}} {{website}} {{protocol}}",
      states: WEBSITE_STATES,
    }),
    table({
      title: "Websites by appliance now",
      description:
        "The HTTP status that each appliance gets, 0 if the website does not answer. Not listed: the appliance does not test it, or its test fails. Empty if no website is known.",
      queries: [
        `min by (${WEBSITE}, appliance) (website_up{${VIEWED}})`,
        `min by (${WEBSITE}, appliance) (website_http_status{${VIEWED}})`,
      ],
      sortBy: "State",
      emptyText: "No website is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "website", title: "Website" },
        { of: "protocol", title: "Protocol" },
        { of: "appliance", title: "Appliance" },
        { of: 0, title: "State", states: IS_UP },
        { of: 1, title: "Status" },
      ],
    }),
    table({
      title: "Availability over the range",
      description:
        "The shares of the time with an exporter in which each website was up, down and unknown. Computed from about 1,000 samples, so shorter outages can be missed. Empty if no website is configured.",
      queries: [
        shareOf("up|unstable|partially_down"),
        shareOf("down|down_at_master"),
        shareOf("unknown"),
        `1000 * max by (${WEBSITE}) (website_state_since_timestamp_seconds{${OF_WEBSITE}})`,
      ],
      sortBy: "Up",
      emptyText: "No website is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "website", title: "Website" },
        { of: "protocol", title: "Protocol" },
        { of: 0, title: "Up", ...SHARE },
        { of: 1, title: "Down", ...SHARE },
        { of: 2, title: "Unknown", ...SHARE },
        { of: 3, title: "State since", unit: "dateTimeFromNow" },
      ],
    }),
    table({
      title: "Servers behind discovered websites",
      description:
        "Servers in service that each appliance reports as OK, and how it protects the website. Empty without website_discovery.",
      queries: [
        `min by (${SITE}, mode) (website_info{${OF_WEBSITE}} * on (instance, ${SITE}) group_left () website_usable_backends{${OF_WEBSITE}})`,
        `max by (${SITE}, mode) (sum by (instance, ${SITE}, mode) (website_info{${OF_WEBSITE}} * on (instance, ${SITE}) group_right (mode) (1 - website_backend_ok{${OF_WEBSITE}})))`,
      ],
      sortBy: "Usable",
      emptyText: "No website is discovered",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "website", title: "Website" },
        { of: "appliance", title: "Appliance" },
        { of: "mode", title: "Mode" },
        { of: 0, title: "Usable" },
        { of: 1, title: "With an error" },
      ],
    }),
  ],
};
