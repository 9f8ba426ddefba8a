import type { ApplianceDocument, ClusterDocument, GroupDocument } from "../../../status/schema.ts";
import { html, nothing, type Html } from "./html.ts";
import type { Sign } from "./mark.ts";
import { emptyCell, row, stateCell } from "./row.ts";
import { NAME_LENGTH, shortened } from "./shortened.ts";
import { worst, type Standing } from "./standing.ts";
import { relative, type Now } from "./time.ts";
import { count, distinct } from "./words.ts";

type Interface = NonNullable<ApplianceDocument["interfaces"]>[number];
type Member = GroupDocument["members"][number];
/** What tells a group from the others. */
type GroupRef = Pick<GroupDocument, "vhid" | "vip">;

/** A row for each VRRP group; for an appliance that stands alone, one for each of its interfaces. */
export function groupRows({ groups, appliances }: ClusterDocument, nowMs: Now): readonly Html[] {
  const known = new Set(groups.map(keyOf));
  const lone = appliances
    .flatMap(({ interfaces = [] }) => interfaces)
    .filter((one) => !known.has(keyOf(one)));
  const loneGroups = new Map(lone.map((one) => [keyOf(one), one]));
  if (appliances.every(({ interfaces }) => interfaces?.length === 0) && groups.length === 0) {
    return [noInterfaceRow(appliances)];
  }
  const rows = [
    ...groups.map((group) => () => groupRow(group, appliances, nowMs)),
    ...[...loneGroups.values()].map((one) => () => loneRow(one, appliances, nowMs)),
  ];
  const shown = rows.slice(0, MAX_ROWS).map((make) => make());
  return rows.length > MAX_ROWS ? [...shown, moreRow(rows.length - MAX_ROWS, appliances)] : shown;
}

/** A page of thousands of rows would block the exporter while it is made, and help nobody. */
const MAX_ROWS = 256;

function moreRow(rows: number, appliances: readonly ApplianceDocument[]): Html {
  return row({
    key: "more",
    title: html`${count(rows, "more VRRP group")}`,
    standing: "unknown",
    words: html`The JSON of this page has them all.`,
    cells: appliances.map(() => emptyCell("not shown")),
  });
}

function noInterfaceRow(appliances: readonly ApplianceDocument[]): Html {
  return row({
    key: "none",
    title: html`No VRRP interface`,
    standing: "unknown",
    words: html`None is reported.`,
    cells: appliances.map(() => emptyCell("none")),
  });
}

function keyOf({ vhid, vip }: GroupRef): string {
  return `${vhid} ${vip}`;
}

const STATES: Readonly<Record<GroupDocument["state"], readonly [standing: Standing, words: string]>> = {
  one_master: ["well", "One master"],
  split_brain: ["critical", "Split brain: more than one master"],
  no_master: ["critical", "No master"],
  unknown: ["unknown", "Master unknown"],
  changing: ["unknown", "Changing"],
};

function groupRow(group: GroupDocument, appliances: readonly ApplianceDocument[], nowMs: Now): Html {
  const [standing, words] = stateOf(group);
  const changed = group.changedAt;
  return row({
    key: keyOf(group),
    title: titleOf(group),
    standing,
    words: html`${words}.
    ${changed === undefined ? html`No change seen.` : html`Changed ${relative("ago", changed, nowMs)}.`}`,
    cells: appliances.map((appliance) => memberCell(group, appliance)),
  });
}

/** One master may be less than well: the wrong one, or one that nobody backs. */
function stateOf({ state, isPreferredMaster, members }: GroupDocument): (typeof STATES)[typeof state] {
  if (state !== "one_master") return STATES[state];
  const isBacked = members.some(({ role }) => role === "backup" || role === "unknown");
  if (!isBacked) return ["warning", "One master, no backup"];
  return isPreferredMaster === false ? ["warning", "One master, not the preferred one"] : STATES[state];
}

function titleOf({ vhid, vip }: GroupRef): Html {
  return html`${breakable(nameOf(vip))} <span class="aside">VHID ${vhid}</span>`;
}

/** An address that is broken, where it must be, after one of its separators. */
function breakable(vip: string): Html {
  return html`${vip.split(/(?<=[.:])/).map((part) => html`${part}<wbr />`)}`;
}

function memberCell(group: GroupDocument, appliance: ApplianceDocument): Html {
  const member = group.members.find((one) => one.appliance === appliance.name);
  if (member === undefined) return emptyCell("not in this group");
  const interfaces = interfacesOf(appliance, group);
  const [standing, word] = roleOf(member, group, interfaces);
  return stateCell(standing, word, html`${priorityOf(member.priority)} ${namesOf(interfaces)}`);
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

/** What an appliance calls something, at a length that has room in a table. */
function nameOf(text: string): string {
  return shortened(text, NAME_LENGTH);
}

/** An interface of no group: of MASTER and BACKUP nobody can say which is well. */
function loneRow(group: GroupRef, appliances: readonly ApplianceDocument[], nowMs: Now): Html {
  return row({
    key: keyOf(group),
    title: titleOf(group),
    standing: worst(appliances.flatMap((one) => interfacesOf(one, group).map(loneStanding))),
    words: nothing,
    cells: appliances.map((appliance) => loneCell(interfacesOf(appliance, group), nowMs)),
  });
}

function loneStanding({ state }: Interface): Standing {
  return state === "MASTER" || state === "BACKUP" ? "well" : "critical";
}

function loneCell(interfaces: readonly Interface[], nowMs: Now): Html {
  const [first] = interfaces;
  if (first === undefined) return emptyCell("no such interface");
  const changed = first.lastTransitionAt;
  return stateCell(
    first.state === "BACKUP" ? "backup" : worst(interfaces.map(loneStanding)),
    statesOf(interfaces),
    html`${priorityOf(first.priority)} ${namesOf(interfaces)}
    ${changed === undefined ? nothing : html`<span>changed ${relative("ago", changed, nowMs)}</span>`}`,
  );
}
