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
import { formatCell, formatTable, type Cell, type Color } from "./table.ts";

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
  const verdict = clusters.length === 0 && problems.length === 0 ? NOTHING : VERDICTS[document.verdict];
  return [`${formatCell(verdict, hasColor)}\n`, ...shown].join("\n");
}

const VERDICTS: Readonly<Record<FleetDocument["verdict"], Cell>> = {
  well: { text: "All is well.", color: "green" },
  wrong: { text: "Problems:", color: "red" },
  unknown: { text: "Not everything is known:", color: "yellow" },
};

const NOTHING: Cell = { text: "Nothing is polled: there is no enabled appliance.", color: "yellow" };

const COLORS: Readonly<Record<Level, Color>> = {
  critical: "red",
  warning: "yellow",
  unknown: "yellow",
  well: "green",
};

function problemRow({ severity, cluster = "", summary, since }: Problem): readonly Cell[] {
  return [{ text: severity, color: COLORS[severity] }, cluster, summary, instant(since)];
}

/** A state by its name, and how severe it is. */
function stateCell<State extends string>(
  state: State | undefined,
  problems: Readonly<Record<State, ProblemKind | undefined>>,
): Cell {
  return state === undefined
    ? { text: "-", color: "yellow" }
    : { text: state.replaceAll("_", " "), color: COLORS[levelOf(problems[state])] };
}

/** Groups; for an appliance without a cluster, its interfaces. */
function vrrpRows({ name, groups, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  const ofGroups = groups.map(({ vip, vhid, state, members, since }) => {
    const texts = members.map(({ appliance, role, priority }) =>
      words(appliance, role.toUpperCase(), priority),
    );
    return [name, vip, String(vhid), stateCell(state, GROUP_PROBLEMS), texts.join(", "), instant(since)];
  });
  if (ofGroups.length > 0) return ofGroups;
  return appliances.flatMap(({ name: appliance, interfaces = [] }) =>
    interfaces.map(({ vip, vhid, state, priority, lastTransitionAt }) => {
      return [name, vip, String(vhid), state, words(appliance, priority), instant(lastTransitionAt)];
    }),
  );
}

function websiteRows({ name, websites, appliances }: ClusterDocument): readonly (readonly Cell[])[] {
  return websites.flatMap((website) =>
    website.states.map(({ protocol, state, since }) => {
      const found = appliances.flatMap((appliance) =>
        testText(appliance, idAt(website, appliance.name), protocol),
      );
      const cell = stateCell(state, WEBSITE_PROBLEMS);
      return [name, words(website.name, protocol), cell, found.join(", "), instant(since)];
    }),
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
    stateCell(state, APPLIANCE_PROBLEMS),
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

/** Those that are known. */
function words(...known: readonly (string | number | undefined)[]): string {
  return known.filter((each) => each !== undefined).join(" ");
}
