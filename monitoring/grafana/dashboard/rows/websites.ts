import { DOWN_SHARE, LAST_UP, STATUS_CHANGES, UNKNOWN_SHARE, UP_SHARE } from "../availability.ts";
import { regexMap } from "../mappings.ts";
import { matrix } from "../matrix.ts";
import { PALETTE } from "../palette.ts";
import type { Row } from "../panel.ts";
import { RUNBOOK } from "../runbook.ts";
import { table } from "../table.ts";
import { timeline } from "../timeline.ts";
import { WEBSITE_CELLS, WEBSITE_MAPPINGS, WEBSITE_STATE } from "../websites.ts";

const SHARE = { unit: "percentunit", decimals: 2, width: 100 } as const;

export const WEBSITES: Row = {
  id: 300,
  title: "Websites",
  collapsed: false,
  panels: [
    timeline({
      id: 301,
      width: 24,
      height: 10,
      title: "State of each website, from each appliance",
      description:
        "“up”, or the status with which a website is down: a number of HTTP, or that the appliance got no answer. “unknown” while the test itself fails. A gap means that no exporter was scraped: nothing is known of that time. With several exporters the worse counts. Empty where no website is configured.",
      runbook: RUNBOOK.websiteDown,
      expr: WEBSITE_STATE,
      legend: "{{ha_cluster}} {{website}} {{protocol}} from {{appliance}}",
      mappings: WEBSITE_MAPPINGS,
    }),
    matrix({
      id: 302,
      width: 12,
      height: 10,
      title: "Websites by appliance now",
      description:
        "A line for each website and protocol, a column for each appliance: a line of “down” is a website that is down for everyone, one “down” in a line is an appliance that cannot reach it. With many clusters, choose some above. “unknown” where its test fails; empty where an appliance does not test it. A line without a protocol: no appliance of the cluster has told yet. Empty where no website is configured, and while no exporter is scraped.",
      runbook: RUNBOOK.websiteDown,
      query: WEBSITE_CELLS,
      row: { label: "row", title: "Website" },
      column: { label: "appliance", title: "Appliance" },
      cell: "cell",
      emptyText: "No website is known",
      mappings: [
        regexMap(".* up$", { color: PALETTE.good }),
        regexMap(".*down$", { color: PALETTE.bad }),
        regexMap("^unknown$", { color: PALETTE.unknown }),
      ],
    }),
    table({
      id: 303,
      width: 12,
      height: 10,
      title: "Availability over the range",
      description:
        "The shares of the range in which each website was known to be up, known to be down, and not known, from each appliance; together they are the whole range. Not known is all time in which its test failed, the exporter was not scraped, Prometheus did not run, or the website was not configured yet. Told from samples at even steps, about a thousand in the range, so an outage between two of them is not seen; with several exporters the worse of each sample counts. Last seen up: within the range. Empty where no website is configured.",
      runbook: RUNBOOK.websiteDown,
      queries: [UP_SHARE, DOWN_SHARE, UNKNOWN_SHARE, LAST_UP, STATUS_CHANGES],
      maxDataPoints: 1000,
      sortBy: "Up",
      emptyText: "No website is known",
      columns: [
        { of: "ha_cluster", title: "Cluster" },
        { of: "website", title: "Website" },
        { of: "protocol", title: "Protocol", width: 90 },
        { of: "appliance", title: "From" },
        { of: 0, title: "Up", ...SHARE },
        { of: 1, title: "Down", ...SHARE },
        { of: 2, title: "Unknown", ...SHARE },
        { of: 3, title: "Last seen up", unit: "dateTimeFromNow" },
        { of: 4, title: "Changes", width: 90 },
      ],
    }),
  ],
};
