import { FAULTS_NOW } from "../faults.ts";
import { NO_BACKUP } from "../groups.ts";
import { rangeMap } from "../mappings.ts";
import { PALETTE } from "../palette.ts";
import type { Row, SizedPanel } from "../panel.ts";
import {
  APPLIANCE,
  countOf,
  GROUP,
  IN_CLUSTER,
  OF_APPLIANCE,
  OF_WEBSITE,
  OPERATION,
  WEBSITE,
} from "../promql.ts";
import { RUNBOOK } from "../runbook.ts";
import { table } from "../table.ts";
import { tile } from "../tile.ts";
import { DOWN } from "../websites.ts";

const SIZE = { width: 4, height: 4 } as const;
const NONE_KNOWN = "“not known” while no exporter is scraped";

const MASTERS = `vrrp_group_masters{${IN_CLUSTER}}`;
const UP = `appliance_up{${OF_APPLIANCE}}`;
const SUCCESS = `appliance_poll_success{${OF_APPLIANCE}}`;

const TILES: readonly SizedPanel[] = [
  tile({
    id: 101,
    ...SIZE,
    title: "Split brains",
    description: `VRRP groups with more than one master, as any exporter sees it; “none” where members are unknown means none that is known. ${NONE_KNOWN}, and where no cluster has two appliances.`,
    runbook: RUNBOOK.splitBrain,
    color: PALETTE.bad,
    expr: countOf(`max by (${GROUP}) (${MASTERS}) >= 2`, MASTERS),
  }),
  tile({
    id: 102,
    ...SIZE,
    title: "No master known",
    description: `VRRP groups in which no exporter knows a master: there is none, or it is among members that do not answer. ${NONE_KNOWN}, and where no cluster has two appliances.`,
    runbook: RUNBOOK.noMaster,
    color: PALETTE.bad,
    expr: countOf(`max by (${GROUP}) (${MASTERS}) == 0`, MASTERS),
  }),
  tile({
    id: 103,
    ...SIZE,
    title: "Appliances not answering",
    description: `Appliances whose VRRP list some exporter cannot poll. ${NONE_KNOWN}.`,
    runbook: RUNBOOK.applianceDown,
    color: PALETTE.bad,
    expr: countOf(`min by (${APPLIANCE}) (${UP}) == 0`, UP),
  }),
  tile({
    id: 104,
    ...SIZE,
    title: "Websites down",
    description: `Websites and protocols that are down as seen from one appliance at least; those that no appliance can test are not known, and not counted here. ${NONE_KNOWN}, and while no website is tested with success.`,
    runbook: RUNBOOK.websiteDown,
    color: PALETTE.bad,
    expr: countOf(`group by (${WEBSITE}) (${DOWN})`, `website_up{${OF_WEBSITE}}`),
  }),
  tile({
    id: 105,
    ...SIZE,
    title: "No backup",
    description: `VRRP groups whose members are all known, one of them master and none of them backup: nobody would take over. ${NONE_KNOWN}, and where no cluster has two appliances.`,
    runbook: RUNBOOK.noBackup,
    color: PALETTE.warning,
    expr: countOf(`group by (${GROUP}) (${NO_BACKUP})`, MASTERS),
  }),
  tile({
    id: 106,
    ...SIZE,
    title: "Polls failing: state unknown",
    description: `VRRP lists and website tests whose latest poll failed on some exporter: what they would tell is unknown there, neither good nor bad. ${NONE_KNOWN}.`,
    runbook: RUNBOOK.applianceDown,
    color: PALETTE.unknown,
    expr: countOf(`min by (${OPERATION}) (${SUCCESS}) == 0`, SUCCESS),
  }),
];

const FAULT_TABLE = table({
  id: 110,
  width: 24,
  height: 10,
  title: "What is wrong now",
  description:
    "Every fault that is known now, worst first, and what is not known. Groups and websites are filtered by what is chosen above; groups belong to clusters, so choosing an appliance leaves them as they are. With several exporters it is enough that one sees a fault. While nothing at all is known, a row says so; empty when all that is known is well.",
  queries: [FAULTS_NOW],
  sortBy: "Severity",
  emptyText: "No fault is known",
  columns: [
    {
      of: 0,
      title: "Severity",
      width: 110,
      mappings: [
        rangeMap(10, 19, { text: "critical", color: PALETTE.bad }),
        rangeMap(20, 29, { text: "warning", color: PALETTE.warning }),
        rangeMap(30, 39, { text: "notice", color: PALETTE.standby }),
      ],
    },
    { of: "fault", title: "What is wrong", width: 440 },
    { of: "ha_cluster", title: "Cluster" },
    { of: "place", title: "Where" },
    { of: "detail", title: "Detail" },
    { of: "runbook", title: "Runbook", url: "${runbook_url}#${__value.raw}" },
  ],
});

export const OVERVIEW: Row = {
  id: 100,
  title: "Overview: what is wrong now",
  collapsed: false,
  panels: [...TILES, FAULT_TABLE],
};
