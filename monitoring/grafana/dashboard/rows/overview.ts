import { AT_SITE, countOf, type Family } from "../expressions.ts";
import { COLOR, table, tile, type Row, type State } from "../panels.ts";

/** The alerts of the rules that come with the exporter. Those about exporters and sites have no cluster. */
const ALERTS = `ALERTS{component="appliance-exporter", severity!="none", ${AT_SITE}, ha_cluster=~"$cluster|"}`;

const SEVERITIES: readonly State[] = [
  { value: "critical", text: "critical", color: COLOR.bad },
  { value: "warning", text: "warning", color: COLOR.warning },
];

function count(title: string, family: Family, states: string, color: string = COLOR.bad) {
  const what = `How many have the state ${states.replaceAll("|", " or ")}, as any exporter sees it.`;
  const description = `${what} “not known” while no exporter is scraped.`;
  return tile({ title, description, color, expr: countOf(family, states) });
}

export const OVERVIEW: Row = {
  title: "Overview: what is wrong now",
  collapsed: false,
  panels: [
    count("Split brains", "vrrp_group", "split_brain"),
    count("No master known", "vrrp_group", "no_master|unknown|unwatched"),
    count("No backup left", "vrrp_group", "no_backup|backup_lost"),
    count("Websites down", "website", "down|down_at_master"),
    count("Websites unknown", "website", "unknown", COLOR.unknown),
    count("Appliances not watched", "appliance", "down|refused|unknown", COLOR.warning),
    table({
      title: "What is wrong now",
      description:
        "The alerts of the exporter's rules, critical ones first. A pending one has not lasted long enough to be sent. The chosen clusters apply. Empty if no alert is pending or firing, and where Prometheus does not have the rules.",
      queries: [ALERTS],
      sortBy: "Severity",
      emptyText: "No alert",
      columns: [
        { of: "severity", title: "Severity", states: SEVERITIES },
        { of: "alertname", title: "Alert", link: "${exporter_url}/runbook#${__value.raw}" },
        { of: "alertstate", title: "State" },
        { of: "ha_cluster", title: "Cluster" },
        { of: "appliance", title: "Appliance" },
        { of: "website", title: "Website" },
        { of: "site", title: "Site" },
        { of: "instance", title: "Exporter" },
      ],
    }),
  ],
};
