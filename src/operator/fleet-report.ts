import type {
  ClusterDocument,
  FleetDocument,
  IncidentDocument,
  ProblemDocument,
} from "../exporter/document/schema.ts";
import { groupBy } from "../support/group-by.ts";
import { printable } from "../support/text.ts";
import {
  headlineOf,
  headlineText,
  judgeClusters,
  toneOf,
  type JudgedCluster,
} from "../exporter/view/headline.ts";
import { mastersIn } from "../exporter/view/masters.ts";
import { successionOf } from "../exporter/view/readiness-rows.ts";
import { incidentLevel, incidentState } from "../exporter/view/incident-facts.ts";
import { isInTrouble, type Row, type Tone } from "../exporter/view/row.ts";
import { clusterRows } from "../exporter/view/rows.ts";
import { urgencyOf } from "../exporter/view/planned.ts";
import { relativeTime, type Phrase } from "../exporter/view/time.ts";
import { formatCell, formatTable, type Color, type TableRow } from "../exporter/command/format.ts";

/** A fleet of so many clusters shows its masters also where all is well. */
const FEW = 20;
/** The number of incidents in the report. */
const LATEST = 8;
/** The most columns of a terminal that the report takes, unless the terminal is wider. */
const COLUMNS = 100;
/** The fewest columns for sentences, however long the names before them are. */
const LEAST = 30;

export interface StatusView {
  readonly hasColor: boolean;
  readonly nowMs: number;
  /** The width of the terminal, if it is one. */
  readonly columns?: number | undefined;
  /** `all`: what is well, too; `failed`: only rows with a problem and incidents that are not over. */
  readonly shows?: "all" | "failed" | undefined;
}

/**
 * Writes the fleet's verdict, its problems, the masters of clusters with problems, or of all in a small fleet, the rows of the status page that
 * are in trouble, and the latest incidents; the verdict again as the last line.
 */
export function fleetReport(document: FleetDocument, view: StatusView): string {
  const { problems, incidents } = document;
  const { hasColor, nowMs, shows } = view;
  const clusters = judgeClusters(document);
  const table = (header: readonly string[], rows: readonly TableRow[]): readonly string[] =>
    rows.length === 0 ? [] : [formatTable(header, wrapped(header, rows, view), hasColor)];
  const answer = headlineOf(document);
  const sentence = `${headlineText(answer)}. ${answer.detail}`;
  const headline = linesOf(sentence, Math.max(view.columns ?? COLUMNS, COLUMNS))
    .map((text) => formatCell({ text, color: COLORS[answer.level] }, hasColor))
    .join("\n");
  const isFew = clusters.length <= FEW;
  const isShown = (judged: JudgedCluster): boolean =>
    shows === "all" || toneOf(judged) !== "well" || (isFew && judged.cluster.appliances.length > 1);
  const masters = shows === "failed" ? [] : clusters.filter(isShown).flatMap(masterRows);
  const groups = document.clusters.flatMap((cluster) =>
    clusterRows(cluster).map((group) => ({ ...group, cluster })),
  );
  const tables = [...groupBy(groups, ({ title }) => title)].flatMap(([title, all]) => {
    const rows = all.flatMap((group) => {
      const shown = shows === "all" ? group.rows : group.rows.filter(isInTrouble);
      return shown.map((row) => rowCells(row, group.cluster, nowMs));
    });
    return table(["cluster", title, "state"], rows);
  });
  const latest = shows === "failed" ? incidents.filter(({ end }) => end === undefined) : incidents;
  const parts = [
    ...table(["severity", "cluster", "since", "problem"], problemRows(problems)),
    ...table(["cluster", "master", "next"], masters),
    ...tables,
    ...table(["begin", "cluster", "state", "what happened"], latest.slice(0, LATEST).map(incidentRow)),
  ];
  return [`${headline}\n`, ...parts, ...(parts.length === 0 ? [] : [`${headline}\n`])].join("\n");
}

/** Returns rows whose last cells are broken into lines, so that no line is wider than the terminal. */
function wrapped(
  header: readonly string[],
  rows: readonly TableRow[],
  { columns = COLUMNS }: StatusView,
): readonly TableRow[] {
  const last = header.length - 1;
  const widthOf = (nth: number): number =>
    Math.max(...[header, ...rows].map((row) => textOf(row[nth]).length));
  const before = header.slice(0, last).reduce((sum, _, nth) => sum + widthOf(nth) + 2, 0);
  const width = Math.max(LEAST, Math.max(columns, COLUMNS) - before);
  return rows.flatMap((row) => {
    const [first = "", ...others] = linesOf(textOf(row[last]), width);
    const cell = row[last];
    const own = typeof cell === "object" ? { ...cell, text: first } : first;
    return [
      [...row.slice(0, last), own],
      ...others.map((line) => [...header.slice(0, last).map(() => ""), line]),
    ];
  });
}

function textOf(cell: TableRow[number] = ""): string {
  return printable(typeof cell === "string" ? cell : cell.text);
}

/** Breaks a text at spaces into lines of this width; the lines after the first keep its indentation. */
function linesOf(text: string, width: number): readonly string[] {
  const indent = /^ */.exec(text)?.[0] ?? "";
  const lines: string[] = [];
  let line = "";
  for (const word of text.trim().split(" ")) {
    const longer = line === "" ? `${indent}${word}` : `${line} ${word}`;
    if (line !== "" && longer.length > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}

/** Returns who is MASTER of a cluster, and who would take over. */
function masterRows({ cluster }: JudgedCluster): readonly TableRow[] {
  const { names = "" } = successionOf(cluster.appliances) ?? {};
  const masters = mastersIn(cluster);
  return masters.length === 0 ? [] : [[cluster.name, masters.join("; "), names]];
}

const COLORS: Readonly<Record<Tone, Color>> = {
  critical: "red",
  warning: "yellow",
  unknown: "yellow",
  planned: "green",
  well: "green",
};

/** Returns a row for each problem, and one for the advice about it, which problems one after another share if it is the same. */
function problemRows(problems: readonly ProblemDocument[]): readonly TableRow[] {
  return problems.flatMap((problem, nth) => {
    const { advice } = problem;
    const isLast = advice !== undefined && advice !== problems[nth + 1]?.advice;
    return isLast ? [problemRow(problem), ["", "", "", `  ${advice}`]] : [problemRow(problem)];
  });
}

function problemRow(problem: ProblemDocument): TableRow {
  const { cluster = "", summary, since = "" } = problem;
  const { level, words } = urgencyOf(problem);
  return [{ text: words.toLowerCase(), color: COLORS[level] }, cluster, inSeconds(since), summary];
}

function incidentRow(incident: IncidentDocument): TableRow {
  const { cluster, begin, summary, isPlanned = false } = incident;
  const words = incidentState(incident);
  const state = { text: isPlanned ? `planned, ${words}` : words, color: COLORS[incidentLevel(incident)] };
  return [inSeconds(begin), cluster, state, summary];
}

function inSeconds(instant: string): string {
  return instant.replace(/\.\d+Z$/, "Z");
}

/** Returns the cells of a row; the last one is `Backup lost: waf-1 MASTER (priority 100, carp0 on eth0), waf-2 unknown`. */
function rowCells(row: Row, { name, appliances }: ClusterDocument, nowMs: number): TableRow {
  const { title, aside = "", level, words, cells } = row;
  const text = (part: Phrase): string =>
    typeof part === "string" ? part : relativeTime(part.wording, Date.parse(part.at), nowMs);
  const texts = cells.flatMap(({ state, details = [] }, nth) => {
    if (state === "") return [];
    const more = details.length === 0 ? "" : ` (${details.map(text).join(", ")})`;
    return `${appliances[nth]?.name} ${text(state)}${more}`;
  });
  const state = [words.map(text).join(" "), texts.join(", ")].filter((part) => part !== "").join(": ");
  return [name, `${title} ${aside}`.trim(), { text: state, color: COLORS[level] }];
}
