import { countOf, IN_CLUSTER, inState, OF_APPLIANCE, OF_WEBSITE, type Family } from "../expressions.ts";
import { FAULTS_NOW } from "../faults.ts";
import { COLOR, rangeMap, table, tile, type Row, type State } from "../panels.ts";

const NOT_KNOWN = "“not known” while no exporter is scraped";

const BASES: Readonly<Record<Family, string>> = {
  vrrp_group: `vrrp_group_state{${IN_CLUSTER}}`,
  website: `website_state{${OF_WEBSITE}}`,
  appliance: `appliance_state{${OF_APPLIANCE}}`,
};

function count(title: string, family: Family, states: string, runbook: string, color?: State["color"]) {
  const what = `How many have the state ${states.replaceAll("|", " or ")}, as any exporter sees it.`;
  return tile({
    title,
    description: `${what} ${NOT_KNOWN}.`,
    runbook,
    ...(color === undefined ? {} : { color }),
    expr: countOf(inState(family, states), BASES[family]),
  });
}

export const OVERVIEW: Row = {
  id: 100,
  title: "Overview: what is wrong now",
  collapsed: false,
  size: [4, 4],
  panels: [
    count("Split brains", "vrrp_group", "split_brain", "VrrpSplitBrain"),
    count("No master known", "vrrp_group", "no_master|unknown", "VrrpNoMaster"),
    count("No known backup", "vrrp_group", "no_backup|backup_unknown", "VrrpRedundancyLost"),
    count("Websites down", "website", "down|down_at_master", "WebsiteDown"),
    count("Websites unknown", "website", "unknown", "WebsiteUnknown", COLOR.unknown),
    count("Appliances not watched", "appliance", "down|refused|unknown", "ApplianceDown", COLOR.warning),
    table({
      id: 110,
      size: [24, 10],
      title: "What is wrong now",
      description:
        "What is wrong, worst first, with the severity of the alert about it. One exporter that says so is enough. The filters above apply; groups and websites belong to clusters, so choosing an appliance does not filter them. Empty if nothing is wrong.",
      queries: [FAULTS_NOW],
      sortBy: "Severity",
      emptyText: "No fault is known",
      columns: [
        {
          of: 0,
          title: "Severity",
          width: 110,
          mappings: [
            rangeMap(10, 19, { text: "critical", color: COLOR.bad }),
            rangeMap(20, 29, { text: "warning", color: COLOR.warning }),
          ],
        },
        { of: "fault", title: "What is wrong", width: 440 },
        { of: "ha_cluster", title: "Cluster" },
        { of: "place", title: "Where" },
        { of: "detail", title: "Detail" },
        { of: "runbook", title: "Runbook", url: "${runbook_url}#${__value.raw}" },
      ],
    }),
  ],
};
