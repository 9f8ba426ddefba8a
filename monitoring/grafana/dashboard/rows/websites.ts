import { OF_WEBSITE, SHARES, VIEW, WEBSITE_CELLS, WEBSITE_STATE } from "../expressions.ts";
import { COLOR, matrix, rangeMap, regexMap, table, timeline, valueMap, type Row } from "../panels.ts";

const SHARE = { unit: "percentunit", decimals: 2, width: 100 } as const;

export const WEBSITES: Row = {
  id: 300,
  title: "Websites",
  collapsed: false,
  size: [12, 10],
  panels: [
    timeline({
      size: [24, 10],
      title: "State of each website, from each appliance",
      description:
        "“up”, or the HTTP status with which a website is down, or that the appliance got no answer. “unknown” while the test fails. A gap: no exporter was scraped. With several exporters the worse counts. Empty if no website is configured.",
      runbook: "WebsiteDown",
      expr: WEBSITE_STATE,
      legend: "{{ha_cluster}} {{website}} {{protocol}} from {{appliance}}",
      mappings: [
        valueMap([
          { value: 1, text: "up", color: COLOR.good },
          { value: 0, text: "down: no answer", color: COLOR.bad },
          { value: -1, text: "unknown", color: COLOR.unknown },
        ]),
        // Shows the number: the status with which it is down.
        rangeMap(100, 999, { color: COLOR.bad }),
      ],
    }),
    matrix({
      title: "Websites by appliance now",
      description:
        "A row of “down”: the website is down for everyone. One “down” in a row: one appliance cannot reach it. “unknown” if the test fails; an empty cell if the appliance does not test it. No protocol: no appliance of the cluster has reported one. Empty if no website is configured, and while no exporter is scraped.",
      runbook: "WebsiteDown",
      query: WEBSITE_CELLS,
      emptyText: "No website is known",
      mappings: [
        regexMap(".* up$", COLOR.good),
        regexMap(".*down$", COLOR.bad),
        regexMap("^unknown$", COLOR.unknown),
      ],
    }),
    table({
      title: "Availability over the range",
      description:
        "The shares of the range in which each website was up, down and unknown, from each appliance. Unknown: its test failed, the exporter was not scraped, Prometheus did not run, or the website was not configured. Computed from about 1,000 samples, so shorter outages can be missed; with several exporters the worse of each sample counts. Empty if no website is configured.",
      runbook: "WebsiteDown",
      queries: [
        ...SHARES,
        `1000 * max by (${VIEW}) (
  max_over_time(timestamp(website_up{${OF_WEBSITE}} == 1)[$__range:$__interval])
)`,
        `round(max by (${VIEW}) (increase(website_status_changes_total{${OF_WEBSITE}}[$__range])))`,
      ],
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
