import type { ApplianceDocument, ClusterDocument, GroupDocument } from "../../status/schema.ts";
import { GROUP_PROBLEMS, levelOf } from "../../status/severity.ts";
import { once } from "../../support/once.ts";
import { html, nothing, type Html } from "./html.ts";
import { count, emptyCell, inWords, relative, row, stateCell, type Reader, type Sign } from "./parts.ts";

type Interface = NonNullable<ApplianceDocument["interfaces"]>[number];
type Member = GroupDocument["members"][number];
/** What identifies a group. */
type GroupRef = Pick<GroupDocument, "vhid" | "vip">;

/** Rendering thousands of rows would block the exporter. */
const MAX_ROWS = 256;

/** A row for each VRRP group; for an appliance without a cluster, one for each of its interfaces. */
export function groupRows({ groups, appliances }: ClusterDocument, reader: Reader): readonly Html[] {
  const lone = groups.length > 0 ? [] : appliances.flatMap(({ interfaces = [] }) => interfaces);
  const total = groups.length + lone.length;
  const rows = [
    ...groups.slice(0, MAX_ROWS).map((group) => groupRow(group, appliances, reader)),
    ...lone.slice(0, MAX_ROWS).map((one) => loneRow(one, reader)),
  ];
  if (total <= MAX_ROWS) return rows;
  const title = html`${count(total - MAX_ROWS, "more VRRP group")}`;
  const words = html`The JSON of this page has them all.`;
  const cells = appliances.map(() => emptyCell("not shown"));
  return [...rows, row({ title, level: "unknown", words, cells })];
}

function groupRow(group: GroupDocument, appliances: readonly ApplianceDocument[], reader: Reader): Html {
  const { state, since, isPreferredMaster } = group;
  const isElsewhere = state === "one_master" && isPreferredMaster === false;
  const kind = isElsewhere ? "preferred_master_lost" : state && GROUP_PROBLEMS[state];
  return row({
    title: titleOf(group),
    level: state === undefined ? "unknown" : levelOf(kind),
    words: html`${inWords(state)}${isElsewhere ? ", not the preferred one" : ""}
    ${relative("for", since, reader)}`,
    cells: appliances.map((appliance) => memberCell(group, appliance)),
  });
}

function titleOf({ vhid, vip }: GroupRef): Html {
  return html`${vip} <span class="aside">VHID ${vhid}</span>`;
}

function memberCell(group: GroupDocument, appliance: ApplianceDocument): Html {
  const member = group.members.find((one) => one.appliance === appliance.name);
  if (member === undefined) return emptyCell("not in this group");
  const interfaces = interfacesByGroup(appliance).get(keyOf(group)) ?? [];
  const [sign, word] = roleOf(member, group, interfaces);
  return stateCell(sign, word, html`${priorityOf(member.priority)} ${namesOf(interfaces)}`);
}

function keyOf({ vhid, vip }: GroupRef): string {
  return `${vhid} ${vip}`;
}

/** A search through all interfaces for each group would take seconds where there are thousands. */
const interfacesByGroup = once(({ interfaces = [] }: ApplianceDocument) => {
  const byGroup = new Map(interfaces.map((one): [string, Interface[]] => [keyOf(one), []]));
  for (const one of interfaces) byGroup.get(keyOf(one))?.push(one);
  return byGroup;
});

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
      return [levelOf("odd_state"), statesOf(interfaces)];
    case "unknown":
      return ["unknown", "unknown"];
    default:
      return role satisfies never;
  }
}

function statesOf(interfaces: readonly Interface[]): string {
  return [...new Set(interfaces.map(({ state }) => state))].join(", ");
}

function priorityOf(priority: number | undefined): Html {
  return priority === undefined ? nothing : html`<span>priority ${priority}</span> `;
}

function namesOf(interfaces: readonly Interface[]): Html {
  const names = interfaces.map(({ name, device }) => (device === "" ? name : `${name} on ${device}`));
  return names.length === 0 ? nothing : html`<span>${names.join(", ")}</span>`;
}

/** An interface without a group: MASTER and BACKUP are both well. */
function loneRow(one: Interface, reader: Reader): Html {
  const isServing = one.state === "MASTER" || one.state === "BACKUP";
  const level = isServing ? "well" : levelOf("not_serving");
  const sign = one.state === "BACKUP" ? "backup" : level;
  const changed = html`<span>changed ${relative("ago", one.lastTransitionAt, reader)}</span>`;
  const details = html`${priorityOf(one.priority)} ${namesOf([one])}
  ${one.lastTransitionAt === undefined ? nothing : changed}`;
  const cells = [stateCell(sign, statesOf([one]), details)];
  return row({ title: titleOf(one), level, words: nothing, cells });
}
