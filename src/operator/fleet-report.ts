import type {
  ClusterDocument,
  FleetDocument,
  IncidentDocument,
  ProblemDocument,
} from "../exporter/document/schema.ts";
import { groupBy } from "../support/group-by.ts";
import { headlineOf, headlineText } from "../exporter/view/headline.ts";
import { incidentLevel, incidentState } from "../exporter/view/incident-facts.ts";
import { isInTrouble, type Row, type Tone } from "../exporter/view/row.ts";
import { clusterRows } from "../exporter/view/rows.ts";
import { urgencyOf } from "../exporter/view/planned.ts";
import { relativeTime, type Phrase } from "../exporter/view/time.ts";
import { formatCell, formatTable, type Color, type TableRow } from "../exporter/command/format.ts";

/** The number of incidents in the report. */
const LATEST = 8;

/**
 * Writes the fleet's verdict and aligned tables: problems first, then the rows of the status page for each cluster, then the latest
 * incidents, or only rows with a problem and incidents that are not over; the verdict again as the last line. `nowMs` is Unix time.
 */
export function fleetReport(
  document: FleetDocument,
  hasColor: boolean,
  nowMs: number,
  isFailedOnly = false,
): string {
  const { clusters, problems, incidents } = document;
  const groups = clusters.flatMap((cluster) => clusterRows(cluster).map((group) => ({ ...group, cluster })));
  const tables = [...groupBy(groups, ({ title }) => title)].flatMap(([title, all]) => {
    const rows = all.flatMap((group) => {
      const shown = isFailedOnly ? group.rows.filter(isInTrouble) : group.rows;
      return shown.map((row) => rowCells(row, group.cluster, nowMs));
    });
    return rows.length === 0 ? [] : formatTable(["cluster", title, "state", "appliances"], rows, hasColor);
  });
  const answer = headlineOf(document);
  const sentence = `${headlineText(answer)}. ${answer.detail}`;
  const headline = formatCell({ text: sentence, color: COLORS[answer.level] }, hasColor);
  const header = ["severity", "cluster", "problem", "since"];
  const first = problems.length === 0 ? [] : [formatTable(header, problemRows(problems), hasColor)];
  const shown = isFailedOnly ? incidents.filter(({ end }) => end === undefined) : incidents;
  const happened = shown.slice(0, LATEST).map(incidentRow);
  const title = ["begin", "cluster", "state", "what happened"];
  const history = happened.length === 0 ? [] : [formatTable(title, happened, hasColor)];
  const last = tables.length + history.length === 0 ? [] : [`${headline}\n`];
  return [`${headline}\n`, ...first, ...tables, ...history, ...last].join("\n");
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
    return isLast ? [problemRow(problem), ["", "", `  ${advice}`, ""]] : [problemRow(problem)];
  });
}

function problemRow(problem: ProblemDocument): TableRow {
  const { cluster = "", summary, since = "" } = problem;
  const { level, words } = urgencyOf(problem);
  return [{ text: words.toLowerCase(), color: COLORS[level] }, cluster, summary, inSeconds(since)];
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

/** Returns the cells of a row; the last one is `waf-1 BACKUP (priority 100, carp0 on eth0)` for each appliance. */
function rowCells(row: Row, { name, appliances }: ClusterDocument, nowMs: number): TableRow {
  const { title, aside = "", level, words, cells } = row;
  const text = (part: Phrase): string =>
    typeof part === "string" ? part : relativeTime(part.wording, Date.parse(part.at), nowMs);
  const texts = cells.flatMap(({ state, details = [] }, nth) => {
    if (state === "") return [];
    const more = details.length === 0 ? "" : ` (${details.map(text).join(", ")})`;
    return `${appliances[nth]?.name} ${text(state)}${more}`;
  });
  const state = { text: words.map(text).join(" "), color: COLORS[level] };
  return [name, `${title} ${aside}`.trim(), state, texts.join(", ")];
}
