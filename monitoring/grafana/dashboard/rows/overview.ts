import {
  APPLIANCE,
  countOf,
  DOWN,
  GROUP,
  MASTERS,
  NO_BACKUP,
  OF_APPLIANCE,
  OF_WEBSITE,
  OPERATION,
  WEBSITE,
} from "../expressions.ts";
import { FAULTS_NOW } from "../faults.ts";
import { COLOR, rangeMap, table, tile, type Row } from "../panels.ts";

const NOT_KNOWN = "“not known” while no exporter is scraped";
const NO_GROUP = `${NOT_KNOWN}, and if no cluster has two appliances.`;

const UP = `appliance_up{${OF_APPLIANCE}}`;
const SUCCESS = `appliance_poll_success{${OF_APPLIANCE}}`;

export const OVERVIEW: Row = {
  id: 100,
  title: "Overview: what is wrong now",
  collapsed: false,
  size: [4, 4],
  panels: [
    tile({
      title: "Split brains",
      description: `VRRP groups with more than one master, as any exporter sees it. Unknown members are not counted. ${NO_GROUP}`,
      runbook: "VrrpSplitBrain",
      expr: countOf(`max by (${GROUP}) (${MASTERS}) >= 2`, MASTERS),
    }),
    tile({
      title: "No master known",
      description: `VRRP groups in which no exporter knows a master: there is none, or it does not answer. ${NO_GROUP}`,
      runbook: "VrrpNoMaster",
      expr: countOf(`max by (${GROUP}) (${MASTERS}) == 0`, MASTERS),
    }),
    tile({
      title: "Appliances not answering",
      description: `Appliances whose VRRP list some exporter cannot poll. ${NOT_KNOWN}.`,
      runbook: "ApplianceDown",
      expr: countOf(`min by (${APPLIANCE}) (${UP}) == 0`, UP),
    }),
    tile({
      title: "Websites down",
      description: `Websites and protocols that are down as seen from at least one appliance. ${NOT_KNOWN}, and while no test succeeds.`,
      runbook: "WebsiteDown",
      expr: countOf(`group by (${WEBSITE}) (${DOWN})`, `website_up{${OF_WEBSITE}}`),
    }),
    tile({
      title: "No backup",
      description: `VRRP groups with all members known, one master and no backup: nobody would take over. ${NO_GROUP}`,
      runbook: "VrrpRedundancyLost",
      color: COLOR.warning,
      expr: countOf(`group by (${GROUP}) (${NO_BACKUP})`, MASTERS),
    }),
    tile({
      title: "Polls failing: state unknown",
      description: `Operations whose latest poll failed on some exporter. Their state is unknown there. ${NOT_KNOWN}.`,
      runbook: "ApplianceDown",
      color: COLOR.unknown,
      expr: countOf(`min by (${OPERATION}) (${SUCCESS}) == 0`, SUCCESS),
    }),
    table({
      id: 110,
      size: [24, 10],
      title: "What is wrong now",
      description:
        "Every known fault, worst first, and what is unknown. One exporter that sees a fault is enough. The filters above apply; groups belong to clusters, so choosing an appliance does not filter them. Empty if nothing is wrong.",
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
            rangeMap(30, 39, { text: "notice", color: COLOR.standby }),
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
