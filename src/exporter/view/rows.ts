import type { ApplianceDocument, ClusterDocument, GroupDocument, PollDocument } from "../document/schema.ts";
import { addressName, describeServers, idAt } from "../judge/words.ts";
import { once } from "../../support/kept.ts";
import { readinessRows } from "./readiness-rows.ts";
import { keyList, type Cell, type Row, type RowGroup } from "./row.ts";
import { formatSeconds, relative } from "./time.ts";
import { count } from "../../support/text.ts";
import { websiteRow } from "./website-row.ts";
import { inWords } from "./words.ts";

type Interface = NonNullable<ApplianceDocument["interfaces"]>[number];
type Description = NonNullable<ClusterDocument["discovered"]>["websites"][number]["at"][string];

/** The most subjects of a group of rows, since rendering thousands would block the exporter. */
const MAX_SUBJECTS = 256;

/** Returns a cluster as a table, which the page and the terminal show: its VRRP groups, readiness, websites and polling. */
export function clusterRows(cluster: ClusterDocument): readonly RowGroup[] {
  const { appliances } = cluster;
  const readiness = limited(readinessRows(appliances), "readiness row", appliances, (row) => row);
  const groups = [
    { kind: "vrrp", title: "VRRP", rows: groupRows(cluster) },
    { kind: "failover", title: "Readiness", rows: readiness },
    { kind: "websites", title: "Websites", rows: websiteRows(cluster) },
    { kind: "discovered", title: "Websites as described by the appliances", rows: discoveredRows(cluster) },
    { kind: "polling", title: "Polling of the VRRP list", rows: pollRows(appliances) },
  ] as const;
  return groups.filter(({ rows }) => rows.length > 0);
}

/** Returns a cell for each appliance. The cell of a disabled one says so. */
function cellsOf(
  appliances: readonly ApplianceDocument[],
  cellOf: (appliance: ApplianceDocument) => Cell,
): readonly Cell[] {
  return appliances.map((each) => (each.state === "disabled" ? { state: "disabled" } : cellOf(each)));
}

/** Returns a row for each VRRP group; for an appliance without a cluster, one for each of its interfaces. */
export function groupRows({ name, groups, appliances }: ClusterDocument): readonly Row[] {
  if (groups.length > 0)
    return limited(groups, "VRRP group", appliances, (group) => groupRow(group, appliances, name));
  const lone = appliances.flatMap(({ interfaces = [] }) => interfaces);
  return limited(lone, "VRRP group", appliances, loneRow);
}

/** Returns the rows of the first 256 subjects, and a row that counts the others. */
function limited<Subject>(
  subjects: readonly Subject[],
  noun: string,
  appliances: readonly ApplianceDocument[],
  rowsOf: (subject: Subject) => Row | readonly Row[],
): readonly Row[] {
  const rows = subjects.slice(0, MAX_SUBJECTS).flatMap(rowsOf);
  const left = subjects.length - MAX_SUBJECTS;
  if (left <= 0) return rows;
  const cells = cellsOf(appliances, () => ({ state: "not shown" }));
  const words = ["The JSON of the status page has them all."];
  return [...rows, { title: count(left, `more ${noun}`), level: "well", words, cells }];
}

function groupRow(group: GroupDocument, appliances: readonly ApplianceDocument[], cluster: string): Row {
  const { vip, vhid, interface: link, key, state, level, problem, since } = group;
  const isElsewhere = problem === "preferred_master_lost";
  return {
    title: addressName(vip, group),
    aside: `vhid ${vhid}`,
    level,
    keys: keyList(key),
    subjects: [{ kind: "group", cluster, vhid, vip, interface: link }],
    words: [`${inWords(state)}${isElsewhere ? ", not the preferred one" : ""}`, ...relative("for", since)],
    cells: cellsOf(appliances, (appliance) => memberCell(group, appliance)),
  };
}

function memberCell(group: GroupDocument, appliance: ApplianceDocument): Cell {
  const member = group.members.find((one) => one.appliance === appliance.name);
  if (member === undefined) return { state: "not in this group" };
  const { role, level, priority } = member;
  const interfaces = member.interfaces.flatMap((name) => interfacesByName(appliance).get(name) ?? []);
  const details = detailsOf(priority, interfaces);
  const reported = [...new Set(interfaces.map(({ state }) => state))].join(", ");
  const state = role === "other" ? reported : role === "unknown" ? role : role.toUpperCase();
  return { sign: role === "backup" ? role : level, state, details };
}

/** The interfaces by name, since a search through all of them for each group would take seconds if there are thousands. */
const interfacesByName = once(
  ({ interfaces = [] }: ApplianceDocument) => new Map(interfaces.map((each) => [each.name, each])),
);

function detailsOf(priority: number | undefined, interfaces: readonly Interface[]): readonly string[] {
  const names = interfaces.map(({ name, device }) => (device === "" ? name : `${name} on ${device}`));
  return [
    ...(priority === undefined ? [] : [`priority ${priority}`]),
    ...(names.length === 0 ? [] : [names.join(", ")]),
  ];
}

/** Returns the row of an interface without a group. MASTER and BACKUP are both well. */
function loneRow(one: Interface): Row {
  const { vip, vhid, key, state, level, priority, lastTransitionAt } = one;
  const details = [...detailsOf(priority, [one]), ...relative("changed", lastTransitionAt)];
  const cell = { sign: state === "BACKUP" ? "backup" : level, state, details } as const;
  return { title: vip, aside: `vhid ${vhid}`, level, keys: keyList(key), words: [], cells: [cell] };
}

/** Returns a row for each website. */
export function websiteRows(cluster: ClusterDocument): readonly Row[] {
  const { websites, appliances } = cluster;
  return limited(websites, "website", appliances, (website) => {
    const tests = new Map(
      appliances.map((each) => [each, each.websites.find(({ id }) => id === idAt(website, each.name))]),
    );
    return websiteRow(website, cluster.name, [...tests.values()], (cellOf) =>
      cellsOf(appliances, (each) => cellOf(tests.get(each))),
    );
  });
}

/** Returns a row for each website that appliances list: how each of them protects the website, and the servers behind it. */
export function discoveredRows({ discovered, appliances }: ClusterDocument): readonly Row[] {
  return limited(discovered?.websites ?? [], "website", appliances, (website) => {
    const { name, address, key, state, level, at } = website;
    return {
      title: name,
      aside: address,
      level,
      keys: keyList(key),
      words: [state === undefined ? "servers unknown" : inWords(state)],
      cells: cellsOf(appliances, ({ name: appliance }) => descriptionCell(at[appliance])),
    };
  });
}

function descriptionCell(description: Description | undefined): Cell {
  if (description === undefined) return { state: "not known here" };
  const { isEnabled, mode = "unknown mode", level, backends, moreBackends } = description;
  return {
    sign: level,
    state: isEnabled === false ? "disabled" : mode,
    details: [describeServers(backends, moreBackends)],
  };
}

/** Returns the health of each appliance's polls. The facts about an appliance are as old as its last success. */
export function pollRows(appliances: readonly ApplianceDocument[]): readonly Row[] {
  const line = (title: string, cellOf: (one: ApplianceDocument) => Cell): Row => {
    return { title, level: "well", words: [], cells: cellsOf(appliances, cellOf) };
  };
  const discovery = (title: string, part: "list" | "details"): readonly Row[] =>
    appliances.every((one) => one.discovery?.[part] === undefined)
      ? []
      : [line(title, (one) => resultCell(one.discovery?.[part]))];
  return [
    line("Latest poll", ({ poll }) => resultCell(poll)),
    line("Last success", ({ poll }) => ({ state: relative("ago", poll?.lastSuccessAt)[0] ?? "none yet" })),
    line("Duration", ({ poll }) => ({ state: formatSeconds(poll?.durationSeconds) })),
    line("Next poll", ({ poll }) => ({ state: relative("next", poll?.nextPollAt)[0] ?? "none planned" })),
    ...discovery("List of websites", "list"),
    ...discovery("Details of websites", "details"),
  ];
}

function resultCell(poll: PollDocument | undefined): Cell {
  if (poll === undefined) return { state: "not polled here" };
  const { state, level: sign, reason = "failed", message, failingSince } = poll;
  if (state === "pending") return { sign, state: "not polled yet" };
  if (state === "succeeded") return { sign, state: "good" };
  if (reason === "unsupported") return { sign, state: reason };
  const details = [...relative("for", failingSince), ...(message === undefined ? [] : [message])];
  return { sign, state: reason.replaceAll("_", " "), details };
}
