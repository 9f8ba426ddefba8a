import type { ApplianceDocument, ClusterDocument, GroupDocument } from "../../status/schema.ts";
import { GROUP_PROBLEMS, levelOf, type Level } from "../../status/severity.ts";
import { html, nothing, type Html } from "./html.ts";
import { worst } from "./levels.ts";
import { emptyCell, relative, row, stateCell, type Sign } from "./parts.ts";
import type { Reader } from "./reader.ts";
import { NAME_LENGTH, shortened } from "./shortened.ts";
import { count, distinct, inWords } from "./words.ts";

type Interface = NonNullable<ApplianceDocument["interfaces"]>[number];
type Member = GroupDocument["members"][number];
/** What identifies a group. */
type GroupRef = Pick<GroupDocument, "vhid" | "vip">;

/** A row for each VRRP group; for an appliance without a cluster, one for each of its interfaces. */
export function groupRows({ groups, appliances }: ClusterDocument, reader: Reader): readonly Html[] {
  const known = new Set(groups.map(keyOf));
  const lone = appliances
    .flatMap(({ interfaces = [] }) => interfaces)
    .filter((one) => !known.has(keyOf(one)));
  const loneGroups = new Map(lone.map((one) => [keyOf(one), one]));
  if (appliances.every(({ interfaces }) => interfaces?.length === 0) && groups.length === 0) {
    return [noInterfaceRow(appliances)];
  }
  const rows = [
    ...groups.map((group) => () => groupRow(group, appliances, reader)),
    ...[...loneGroups.values()].map((one) => () => loneRow(one, appliances, reader)),
  ];
  const shown = rows.slice(0, MAX_ROWS).map((make) => make());
  return rows.length > MAX_ROWS ? [...shown, moreRow(rows.length - MAX_ROWS, appliances)] : shown;
}

/** A page of thousands of rows would block the exporter while it is made, and help nobody. */
const MAX_ROWS = 256;

function moreRow(rows: number, appliances: readonly ApplianceDocument[]): Html {
  return row({
    title: html`${count(rows, "more VRRP group")}`,
    level: "unknown",
    words: html`The JSON of this page has them all.`,
    cells: appliances.map(() => emptyCell("not shown")),
  });
}

function noInterfaceRow(appliances: readonly ApplianceDocument[]): Html {
  return row({
    title: html`No VRRP interface`,
    level: "unknown",
    words: html`None is reported.`,
    cells: appliances.map(() => emptyCell("none")),
  });
}

function keyOf({ vhid, vip }: GroupRef): string {
  return `${vhid} ${vip}`;
}

function groupRow(group: GroupDocument, appliances: readonly ApplianceDocument[], reader: Reader): Html {
  const { state, since, isPreferredMaster } = group;
  const isElsewhere = state === "one_master" && isPreferredMaster === false;
  const kind = isElsewhere ? "preferred_master_lost" : state && GROUP_PROBLEMS[state];
  return row({
    title: titleOf(group),
    level: state === undefined ? "unknown" : levelOf(kind),
    words: html`${inWords(state)}${isElsewhere ? ", not the preferred one" : ""}
    ${since === undefined ? nothing : relative("for", since, reader)}`,
    cells: appliances.map((appliance) => memberCell(group, appliance)),
  });
}

function titleOf({ vhid, vip }: GroupRef): Html {
  return html`${breakable(nameOf(vip))} <span class="aside">VHID ${vhid}</span>`;
}

/** Allows line breaks after the separators of an address. */
function breakable(vip: string): Html {
  return html`${vip.split(/(?<=[.:])/).map((part) => html`${part}<wbr />`)}`;
}

function memberCell(group: GroupDocument, appliance: ApplianceDocument): Html {
  const member = group.members.find((one) => one.appliance === appliance.name);
  if (member === undefined) return emptyCell("not in this group");
  const interfaces = interfacesOf(appliance, group);
  const [level, word] = roleOf(member, group, interfaces);
  return stateCell(level, word, html`${priorityOf(member.priority)} ${namesOf(interfaces)}`);
}

function interfacesOf(appliance: ApplianceDocument, group: GroupRef): readonly Interface[] {
  const known = byGroup.get(appliance) ?? groupedInterfaces(appliance);
  byGroup.set(appliance, known);
  return known.get(keyOf(group)) ?? [];
}

type ByGroup = ReadonlyMap<string, readonly Interface[]>;
/** A search through all interfaces for each group would take seconds where there are thousands. */
const byGroup = new WeakMap<ApplianceDocument, ByGroup>();

function groupedInterfaces({ interfaces = [] }: ApplianceDocument): ByGroup {
  const grouped = new Map<string, Interface[]>();
  for (const one of interfaces) {
    const others = grouped.get(keyOf(one));
    if (others === undefined) grouped.set(keyOf(one), [one]);
    else others.push(one);
  }
  return grouped;
}

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
      return ["warning", statesOf(interfaces)];
    case "unknown":
      return ["unknown", "unknown"];
    default:
      return role satisfies never;
  }
}

function priorityOf(priority: number | undefined): Html {
  return priority === undefined ? nothing : html`<span>priority ${priority}</span> `;
}

function namesOf(interfaces: readonly Interface[]): Html {
  const names = interfaces.map(({ name, device }) =>
    device === "" ? nameOf(name) : `${nameOf(name)} on ${nameOf(device)}`,
  );
  return names.length === 0 ? nothing : html`<span>${names.join(", ")}</span>`;
}

function statesOf(interfaces: readonly Interface[]): string {
  return nameOf(distinct(interfaces.map(({ state }) => state)).join(", "));
}

/** A name that an appliance supplies, cut to fit a table. */
function nameOf(text: string): string {
  return shortened(text, NAME_LENGTH);
}

/** An interface without a group: MASTER and BACKUP are both well. */
function loneRow(group: GroupRef, appliances: readonly ApplianceDocument[], reader: Reader): Html {
  return row({
    title: titleOf(group),
    level: worst(appliances.flatMap((one) => interfacesOf(one, group).map(loneLevel))),
    words: nothing,
    cells: appliances.map((appliance) => loneCell(interfacesOf(appliance, group), reader)),
  });
}

function loneLevel({ state }: Interface): Level {
  return state === "MASTER" || state === "BACKUP" ? "well" : "critical";
}

function loneCell(interfaces: readonly Interface[], reader: Reader): Html {
  const [first] = interfaces;
  if (first === undefined) return emptyCell("no such interface");
  const changed = first.lastTransitionAt;
  return stateCell(
    first.state === "BACKUP" ? "backup" : worst(interfaces.map(loneLevel)),
    statesOf(interfaces),
    html`${priorityOf(first.priority)} ${namesOf(interfaces)}
    ${changed === undefined ? nothing : html`<span>changed ${relative("ago", changed, reader)}</span>`}`,
  );
}
