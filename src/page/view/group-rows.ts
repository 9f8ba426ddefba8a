import type { ApplianceDocument, ClusterDocument, GroupDocument } from "../../status/schema.ts";
import { GROUP_PROBLEMS, levelOf } from "../../status/severity.ts";
import { groupBy } from "../../support/group-by.ts";
import { once } from "../../support/once.ts";
import { count, inWords } from "./parts.ts";
import { relative, type Cell, type Row, type Sign } from "./row.ts";

type Interface = NonNullable<ApplianceDocument["interfaces"]>[number];
type Member = GroupDocument["members"][number];
/** What identifies a group. */
type GroupRef = Pick<GroupDocument, "vhid" | "vip">;

/** Rendering thousands of rows would block the exporter. */
const MAX_ROWS = 256;

/** A row for each VRRP group; for an appliance without a cluster, one for each of its interfaces. */
export function groupRows({ groups, appliances }: ClusterDocument): readonly Row[] {
  const lone = groups.length > 0 ? [] : appliances.flatMap(({ interfaces = [] }) => interfaces);
  const total = groups.length + lone.length;
  const rows = [
    ...groups.slice(0, MAX_ROWS).map((group) => groupRow(group, appliances)),
    ...lone.slice(0, MAX_ROWS).map(loneRow),
  ];
  if (total <= MAX_ROWS) return rows;
  const title = count(total - MAX_ROWS, "more VRRP group");
  const cells = appliances.map(() => ({ state: "not shown" }));
  return [...rows, { title, level: "unknown", words: ["The JSON of the status page has them all."], cells }];
}

function groupRow(group: GroupDocument, appliances: readonly ApplianceDocument[]): Row {
  const { vip, vhid, state, since, isPreferredMaster } = group;
  const isElsewhere = state === "one_master" && isPreferredMaster === false;
  const kind = isElsewhere ? "preferred_master_lost" : state && GROUP_PROBLEMS[state];
  return {
    title: vip,
    aside: `VHID ${vhid}`,
    level: state === undefined ? "unknown" : levelOf(kind),
    words: [`${inWords(state)}${isElsewhere ? ", not the preferred one" : ""}`, ...relative("for", since)],
    cells: appliances.map((appliance) => memberCell(group, appliance)),
  };
}

function memberCell(group: GroupDocument, appliance: ApplianceDocument): Cell {
  const member = group.members.find((one) => one.appliance === appliance.name);
  if (member === undefined) return { state: "not in this group" };
  const interfaces = interfacesByGroup(appliance).get(keyOf(group)) ?? [];
  const [sign, state] = roleOf(member, group, interfaces);
  return { sign, state, details: detailsOf(member.priority, interfaces) };
}

function keyOf({ vhid, vip }: GroupRef): string {
  return `${vhid} ${vip}`;
}

/** A search through all interfaces for each group would take seconds where there are thousands. */
const interfacesByGroup = once(({ interfaces = [] }: ApplianceDocument) => groupBy(interfaces, keyOf));

function roleOf(
  { role }: Member,
  { state }: GroupDocument,
  interfaces: readonly Interface[],
): readonly [Sign, string] {
  switch (role) {
    case "master":
      return [state === "split_brain" ? "critical" : "well", "MASTER"];
    case "backup":
      return ["backup", "BACKUP"];
    case "other":
      return [levelOf("odd_state"), [...new Set(interfaces.map((one) => one.state))].join(", ")];
    case "unknown":
      return ["unknown", "unknown"];
    default:
      return role satisfies never;
  }
}

function detailsOf(priority: number | undefined, interfaces: readonly Interface[]): readonly string[] {
  const names = interfaces.map(({ name, device }) => (device === "" ? name : `${name} on ${device}`));
  return [
    ...(priority === undefined ? [] : [`priority ${priority}`]),
    ...(names.length === 0 ? [] : [names.join(", ")]),
  ];
}

/** An interface without a group: MASTER and BACKUP are both well. */
function loneRow(one: Interface): Row {
  const { vip, vhid, state, priority, lastTransitionAt } = one;
  const level = state === "MASTER" || state === "BACKUP" ? "well" : levelOf("not_serving");
  const details = [...detailsOf(priority, [one]), ...relative("changed", lastTransitionAt)];
  const cell = { sign: state === "BACKUP" ? "backup" : level, state, details } as const;
  return { title: vip, aside: `VHID ${vhid}`, level, words: [], cells: [cell] };
}
