import type {
  ApplianceDocument,
  ClusterDocument,
  FleetDocument,
  GroupDocument,
  PollDocument,
  Problem,
} from "../status/schema.ts";
import { statusText } from "../status/words.ts";
import { shortened } from "../page/view/shortened.ts";
import { colorize, formatTable, type Cell, type Tone } from "./table.ts";

/** The fleet as aligned tables: problems first, then groups, websites and appliances. */
export function fleetReport(document: FleetDocument, hasColor: boolean): string {
  const { clusters, problems } = document;
  const tables = [
    { header: ["severity", "cluster", "problem", "since"], rows: problems.map(problemRow) },
    { header: ["cluster", "vip", "vhid", "state", "members", "changed"], rows: clusters.flatMap(vrrpRows) },
    { header: ["cluster", "website", "appliance", "seen"], rows: clusters.flatMap(websiteRows) },
    {
      header: ["cluster", "appliance", "vrrp list", "last success", "duration", "next poll"],
      rows: clusters.flatMap(applianceRows),
    },
  ].filter(({ rows }) => rows.length > 0);
  const shown = tables.map(({ header, rows }) => formatTable(header, rows, hasColor));
  return [`${colorize(verdictCell(document), hasColor)}\n`, ...shown].join("\n");
}

function verdictCell({ verdict, problems, clusters }: FleetDocument): Cell {
  switch (verdict) {
    case "well":
      return { text: "All is well.", tone: "success" };
    case "wrong":
      return {
        text: problems.length === 1 ? "One problem:" : `${problems.length} problems:`,
        tone: "failure",
      };
    case "unknown": {
      const text = clusters.length === 0 ? "No appliance is polled." : "Not everything is known yet:";
      return { text, tone: "warning" };
    }
    default:
      return verdict satisfies never;
  }
}

const SEVERITIES: Readonly<Record<Problem["severity"], Tone>> = {
  critical: "failure",
  warning: "warning",
  unknown: "warning",
};

function problemRow({ severity, cluster = "", summary, since, isSinceAtLeast }: Problem): readonly Cell[] {
  const orEarlier = since !== undefined && isSinceAtLeast === true ? " or earlier" : "";
  return [{ text: severity, tone: SEVERITIES[severity] }, cluster, summary, `${instant(since)}${orEarlier}`];
}

/** Groups; for an appliance without a cluster, its interfaces. */
function vrrpRows({ name, groups, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  if (groups.length > 0) {
    return groups.map((group) => [
      name,
      group.vip,
      String(group.vhid),
      groupCell(group),
      group.members.map((member) => memberText(member, group, appliances)).join(", "),
      instant(group.changedAt),
    ]);
  }
  if (appliances.every(({ interfaces }) => interfaces?.length === 0)) {
    return [[name, "", "", { text: "no VRRP interface", tone: "warning" }, "", ""]];
  }
  return appliances.flatMap(({ name: appliance, interfaces = [] }) =>
    interfaces.map(({ vip, vhid, state, priority, lastTransitionAt }) => [
      name,
      vip,
      String(vhid),
      state,
      [appliance, priority ?? ""].join(" ").trimEnd(),
      instant(lastTransitionAt),
    ]),
  );
}

const GROUP_CELLS: Readonly<Record<GroupDocument["state"], Cell>> = {
  one_master: { text: "one master", tone: "success" },
  split_brain: { text: "split brain", tone: "failure" },
  no_master: { text: "no master", tone: "failure" },
  unknown: { text: "unknown", tone: "failure" },
  changing: { text: "changing", tone: "warning" },
};

function groupCell({ state }: GroupDocument): Cell {
  return GROUP_CELLS[state];
}

/** Keeps the states of the other members in view. */
const STATE_LENGTH = 40;

function memberText(
  { appliance, role, priority }: GroupDocument["members"][number],
  { vhid, vip }: GroupDocument,
  appliances: readonly ApplianceDocument[],
): string {
  const reported = appliances
    .filter(({ name }) => role === "other" && name === appliance)
    .flatMap(({ interfaces = [] }) => interfaces.filter((one) => one.vhid === vhid && one.vip === vip))
    .map(({ state }) => state);
  const word =
    reported.length === 0 ? role.toUpperCase() : shortened([...new Set(reported)].join("/"), STATE_LENGTH);
  return [appliance, word, priority ?? ""].join(" ").trimEnd();
}

function websiteRows({ name, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  return appliances.flatMap((appliance) =>
    appliance.websites.map((website) => [name, website.name, appliance.name, websiteCell(website)]),
  );
}

function websiteCell({ poll, statuses, unread = [] }: ApplianceDocument["websites"][number]): Cell {
  if (statuses === undefined) return pollCell(poll);
  const text = [
    ...statuses.map(({ protocol, status }) => `${protocol} ${statusText(status)}`),
    ...unread.map((protocol) => `${protocol} unknown`),
  ];
  if (statuses.some((status) => !status.isUp)) return { text: text.join(", "), tone: "failure" };
  const isKnown = statuses.length > 0 && unread.length === 0;
  return { text: text.join(", ") || "unknown", tone: isKnown ? "success" : "warning" };
}

function applianceRows({ name, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  return appliances.map(({ name: appliance, poll }) => [
    name,
    appliance,
    pollCell(poll),
    instant(poll.lastSuccessAt),
    poll.durationSeconds === undefined ? "" : `${poll.durationSeconds.toFixed(3)} s`,
    instant(poll.nextPollAt),
  ]);
}

function pollCell({ state, reason }: PollDocument): Cell {
  if (state === "succeeded") return { text: "ok", tone: "success" };
  return state === "pending"
    ? { text: "not polled yet", tone: "warning" }
    : { text: reason ?? "", tone: "failure" };
}

/** To the second; empty for no instant. */
function instant(at: string | undefined): string {
  return at?.replace(/\.\d+Z$/, "Z") ?? "";
}
