import {
  OF_WEBSITE,
  shareOf,
  WEBSITE,
  WEBSITE_CELLS,
  WEBSITE_STATE,
  WEBSITE_STATES,
} from "../expressions.ts";
import { COLOR, matrix, regexMap, table, timeline, valueMap, type Row } from "../panels.ts";

/** A website at one appliance. */
const SITE = "ha_cluster, website_id, website, appliance";
const SHARE = { unit: "percentunit", decimals: 2, width: 100 } as const;

export const WEBSITES: Row = {
  id: 300,
  title: "Websites",
  collapsed: false,
  size: [12, 10],
  panels: [
    timeline({
      size: [24, 10],
      title: "State of each website",
      description:
        "The state of each website for its visitors, as the exporters judge it. If they differ, the worst counts. A gap: no exporter was scraped. Empty if no website is configured.",
      runbook: "WebsiteDown",
      expr: WEBSITE_STATE,
      legend: "{{ha_cluster}} {{website}} {{protocol}}",
      mappings: [valueMap(WEBSITE_STATES)],
    }),
    matrix({
      title: "Websites by appliance now",
      description:
        "The HTTP status that each appliance gets. An empty cell: the appliance does not test it, or its test fails. Empty if no website is configured, and while no exporter is scraped.",
      runbook: "WebsitePartiallyDown",
      query: WEBSITE_CELLS,
      emptyText: "No website is known",
      mappings: [regexMap(".* up$", COLOR.good), regexMap(".*down$", COLOR.bad)],
    }),
    table({
      title: "Availability over the range",
      description:
        "The shares of the time with an exporter in which each website was up, down and unknown. Computed from about 1,000 samples, so shorter outages can be missed. Empty if no website is configured.",
      runbook: "WebsiteDown",
      queries: [
        shareOf("up|partially_down"),
        shareOf("down|down_at_master"),
        shareOf("unknown"),
        `1000 * max by (${WEBSITE}) (website_state_since_timestamp_seconds{${OF_WEBSITE}})`,
        `round(max by (${WEBSITE}) (increase(website_status_changes_total{${OF_WEBSITE}}[$__range])))`,
      ],
      maxDataPoints: 1000,
      sortBy: "Up",
      emptyText: "No website is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "website", title: "Website" },
        { of: "protocol", title: "Protocol", width: 90 },
        { of: 0, title: "Up", ...SHARE },
        { of: 1, title: "Down", ...SHARE },
        { of: 2, title: "Unknown", ...SHARE },
        { of: 3, title: "State since", unit: "dateTimeFromNow" },
        { of: 4, title: "Changes", width: 90 },
      ],
    }),
    table({
      size: [24, 8],
      title: "Servers behind discovered websites",
      description:
        "Servers in service that each appliance reports as OK, and how it protects the website. Empty without website_discovery.",
      runbook: "WebsiteBackendsLost",
      queries: [
        `min by (${SITE}, mode) (website_info{${OF_WEBSITE}} * on (instance, ${SITE}) group_left () website_usable_backends{${OF_WEBSITE}})`,
        `count by (${SITE}, mode) (website_info{${OF_WEBSITE}} * on (instance, ${SITE}) group_right (mode) (website_backend_ok{${OF_WEBSITE}} == 0))`,
      ],
      sortBy: "Usable",
      emptyText: "No website is discovered",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "website", title: "Website" },
        { of: "appliance", title: "Appliance" },
        { of: "mode", title: "Mode", width: 90 },
        { of: 0, title: "Usable", width: 90 },
        { of: 1, title: "With an error", width: 110 },
      ],
    }),
  ],
};
