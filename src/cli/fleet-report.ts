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
import { formatTable, tint, type Cell, type Tone } from "./table.ts";

/** The fleet for people: what is wrong first, then groups, websites and appliances, as aligned tables. */
export function fleetReport(document: FleetDocument, hasColour: boolean): string {
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
  const shown = tables.map(({ header, rows }) => formatTable(header, rows, hasColour));
  return [`${tint(verdictCell(document), hasColour)}\n`, ...shown].join("\n");
}

function verdictCell({ verdict, problems, clusters }: FleetDocument): Cell {
  switch (verdict) {
    case "well":
      return { text: "All is well.", tone: "good" };
    case "wrong":
      return { text: problems.length === 1 ? "One problem:" : `${problems.length} problems:`, tone: "bad" };
    case "unknown": {
      const text = clusters.length === 0 ? "No appliance is polled." : "Not everything is known yet:";
      return { text, tone: "doubtful" };
    }
    default:
      return verdict satisfies never;
  }
}

const SEVERITIES: Readonly<Record<Problem["severity"], Tone>> = {
  critical: "bad",
  warning: "doubtful",
  unknown: "doubtful",
};

function problemRow({ severity, cluster = "", summary, since, isSinceAtLeast }: Problem): readonly Cell[] {
  const orEarlier = since !== undefined && isSinceAtLeast === true ? " or earlier" : "";
  return [{ text: severity, tone: SEVERITIES[severity] }, cluster, summary, `${instant(since)}${orEarlier}`];
}

/** Groups; of an appliance that stands alone, its interfaces. */
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
    return [[name, "", "", { text: "no VRRP interface", tone: "doubtful" }, "", ""]];
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
  one_master: { text: "one master", tone: "good" },
  split_brain: { text: "split brain", tone: "bad" },
  no_master: { text: "no master", tone: "bad" },
  unknown: { text: "unknown", tone: "bad" },
  changing: { text: "changing", tone: "doubtful" },
};

function groupCell({ state }: GroupDocument): Cell {
  return GROUP_CELLS[state];
}

/** Of what one member reports, so that the others are seen beside it. */
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
  if (statuses.some((status) => !status.isUp)) return { text: text.join(", "), tone: "bad" };
  const isKnown = statuses.length > 0 && unread.length === 0;
  return { text: text.join(", ") || "unknown", tone: isKnown ? "good" : "doubtful" };
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
  if (state === "succeeded") return { text: "ok", tone: "good" };
  return state === "pending"
    ? { text: "not polled yet", tone: "doubtful" }
    : { text: reason ?? "", tone: "bad" };
}

/** To the second; nothing where there is none. */
function instant(at: string | undefined): string {
  return at?.replace(/\.\d+Z$/, "Z") ?? "";
}
