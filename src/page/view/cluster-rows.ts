import type { ApplianceDocument, ClusterDocument, PollDocument } from "../../status/schema.ts";
import { discoveredRows } from "./discovered-rows.ts";
import { groupRows } from "./group-rows.ts";
import { relative, type Cell, type Row, type Words } from "./row.ts";
import { formatSeconds } from "./time.ts";
import { websiteRows } from "./website-rows.ts";

/** Rows about one subject. */
export interface RowGroup {
  readonly kind: "vrrp" | "websites" | "discovered" | "polling";
  readonly title: string;
  readonly rows: readonly Row[];
}

/** A cluster as a table, which the page and the terminal show: its VRRP groups, websites and polling. */
export function clusterRows(cluster: ClusterDocument): readonly RowGroup[] {
  const groups = [
    { kind: "vrrp", title: "VRRP", rows: groupRows(cluster) },
    { kind: "websites", title: "Websites", rows: websiteRows(cluster) },
    { kind: "discovered", title: "Websites as described by the appliances", rows: discoveredRows(cluster) },
    { kind: "polling", title: "Polling of the VRRP list", rows: pollRows(cluster.appliances) },
  ] as const;
  return groups.filter(({ rows }) => rows.length > 0);
}

/** How polling each appliance goes. What is known about it is as old as its last success. */
export function pollRows(appliances: readonly ApplianceDocument[]): readonly Row[] {
  const line = (title: string, cellOf: (one: ApplianceDocument) => Cell): Row => {
    return { title, level: "well", words: [], cells: appliances.map(cellOf) };
  };
  const discovery = (title: string, part: "list" | "details"): readonly Row[] =>
    appliances.every((one) => one.discovery?.[part] === undefined)
      ? []
      : [line(title, (one) => resultCell(one.discovery?.[part]))];
  return [
    line("Latest poll", ({ poll }) => resultCell(poll)),
    line("Last success", ({ poll }) => ({ state: relative("ago", poll.lastSuccessAt)[0] ?? "none yet" })),
    line("Duration", ({ poll }) => ({ state: formatSeconds(poll.durationSeconds) })),
    line("Next poll", ({ poll }) => ({ state: relative("next", poll.nextPollAt)[0] ?? "none planned" })),
    ...discovery("List of websites", "list"),
    ...discovery("Details of websites", "details"),
  ];
}

function resultCell(poll: PollDocument | undefined): Cell {
  if (poll === undefined) return { state: "not polled here" };
  const { state, reason = "failed", message, failingSince } = poll;
  if (state === "pending") return { sign: "unknown", state: "not polled yet" };
  if (reason === "unsupported") return { sign: "unknown", state: "unsupported" };
  if (state === "succeeded") return { sign: "well", state: "good" };
  const details: readonly Words[] = [
    ...relative("for", failingSince),
    ...(message === undefined ? [] : [message]),
  ];
  return { sign: "critical", state: reason.replaceAll("_", " "), details };
}
