import type { ApplianceDocument, ClusterDocument, FleetDocument, Problem } from "../status/schema.ts";
import {
  APPLIANCE_PROBLEMS,
  GROUP_PROBLEMS,
  levelOf,
  WEBSITE_PROBLEMS,
  type Level,
  type ProblemKind,
} from "../status/severity.ts";
import { idAt, statusText } from "../status/words.ts";
import { colorize, formatTable, type Cell, type Tone } from "./table.ts";

/** The fleet as aligned tables: problems first, then groups, websites and appliances. */
export function fleetReport(document: FleetDocument, hasColor: boolean): string {
  const { clusters, problems } = document;
  const tables = [
    { header: ["severity", "cluster", "problem", "since"], rows: problems.map(problemRow) },
    { header: ["cluster", "vip", "vhid", "state", "members", "since"], rows: clusters.flatMap(vrrpRows) },
    { header: ["cluster", "website", "state", "found", "since"], rows: clusters.flatMap(websiteRows) },
    {
      header: ["cluster", "appliance", "state", "reason", "since", "last success", "duration", "next poll"],
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

const TONES: Readonly<Record<Level, Tone>> = {
  critical: "failure",
  warning: "warning",
  unknown: "warning",
  well: "success",
};

function problemRow({ severity, cluster = "", summary, since }: Problem): readonly Cell[] {
  return [{ text: severity, tone: TONES[severity] }, cluster, summary, instant(since)];
}

/** A state by its name, and how severe it is. */
function stateCell<State extends string>(
  state: State | undefined,
  problems: Readonly<Record<State, ProblemKind | undefined>>,
): Cell {
  return state === undefined
    ? { text: "-", tone: "warning" }
    : { text: state.replaceAll("_", " "), tone: TONES[levelOf(problems[state])] };
}

/** Groups; for an appliance without a cluster, its interfaces. */
function vrrpRows({ name, groups, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  if (groups.length > 0) {
    return groups.map((group) => [
      name,
      group.vip,
      String(group.vhid),
      stateCell(group.state, GROUP_PROBLEMS),
      group.members
        .map(({ appliance, role, priority }) =>
          [appliance, role.toUpperCase(), priority ?? ""].join(" ").trimEnd(),
        )
        .join(", "),
      instant(group.since),
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

function websiteRows({ name, websites, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  return websites.flatMap((website) =>
    website.states.map(({ protocol, state, since }) => [
      name,
      [website.name, protocol ?? ""].join(" ").trimEnd(),
      stateCell(state, WEBSITE_PROBLEMS),
      appliances
        .flatMap((appliance) => testText(appliance, idAt(website, appliance.name), protocol))
        .join(", "),
      instant(since),
    ]),
  );
}

/** What an appliance finds: `a 503`, `a no HTTP response (connection refused)`, `a timeout`. */
function testText(
  { name, websites }: ApplianceDocument,
  id: number | undefined,
  protocol: "http" | "https" | undefined,
): readonly string[] {
  const test = websites.find((website) => website.id === id);
  if (test === undefined) return [];
  const { poll, statuses } = test;
  const found = statuses?.find((status) => status.protocol === protocol);
  if (found !== undefined) return [`${name} ${statusText(found.status, found.text)}`];
  return [`${name} ${poll.state === "pending" ? "not tested yet" : (poll.reason ?? "no status")}`];
}

function applianceRows({ name, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  return appliances.map(({ name: appliance, state, since, poll }) => [
    name,
    appliance,
    state === undefined ? { text: "not polled yet", tone: "warning" } : stateCell(state, APPLIANCE_PROBLEMS),
    poll.reason ?? "",
    instant(since),
    instant(poll.lastSuccessAt),
    poll.durationSeconds === undefined ? "" : `${poll.durationSeconds.toFixed(3)} s`,
    instant(poll.nextPollAt),
  ]);
}

/** To the second; empty for no instant. */
function instant(at: string | undefined): string {
  return at?.replace(/\.\d+Z$/, "Z") ?? "";
}
