import { clusterRows } from "../page/view/cluster-rows.ts";
import type { Row, Words } from "../page/view/cluster-rows.ts";
import { relativeTime } from "../page/view/time.ts";
import { verdictOf } from "../page/view/verdict.ts";
import type { FleetDocument, Problem } from "../status/schema.ts";
import type { Level } from "../status/severity.ts";
import { groupBy } from "../support/group-by.ts";
import { formatCell, formatTable, type Cell, type Color } from "./table.ts";

/** The fleet's verdict and aligned tables: problems first, then what the status page shows of each cluster. `nowMs`: Unix time. */
export function fleetReport(document: FleetDocument, hasColor: boolean, nowMs: number): string {
  const { clusters, problems } = document;
  const groups = clusters.flatMap((cluster) => clusterRows(cluster).map((group) => ({ ...group, cluster })));
  const tables = [...groupBy(groups, ({ title }) => title)].map(([title, all]) => ({
    header: ["cluster", title, "state", "appliances"],
    rows: all.flatMap(({ cluster: { name, appliances }, rows }) =>
      rows.map((row) => [name, ...rowCells(row, appliances, nowMs)]),
    ),
  }));
  const problemTable = {
    header: ["severity", "cluster", "problem", "since"],
    rows: problems.map(problemRow),
  };
  const shown = (problems.length > 0 ? [problemTable, ...tables] : tables).map(({ header, rows }) =>
    formatTable(header, rows, hasColor),
  );
  const { level, headline, detail } = verdictOf(document);
  const verdict = formatCell({ text: `${headline}. ${detail}`, color: COLORS[level] }, hasColor);
  return [`${verdict}\n`, ...shown].join("\n");
}

const COLORS: Readonly<Record<Level, Color>> = {
  critical: "red",
  warning: "yellow",
  unknown: "yellow",
  well: "green",
};

function problemRow({ severity, cluster = "", summary, since = "" }: Problem): readonly Cell[] {
  return [{ text: severity, color: COLORS[severity] }, cluster, summary, since.replace(/\.\d+Z$/, "Z")];
}

/** The subject, its state, and what is said of each appliance: `waf-1 BACKUP (priority 100, carp0 on eth0)`. */
function rowCells(
  { title, aside = "", level, words, cells }: Row,
  appliances: readonly { readonly name: string }[],
  nowMs: number,
): readonly Cell[] {
  const text = (part: Words): string =>
    typeof part === "string" ? part : relativeTime(part.wording, Date.parse(part.at), nowMs);
  const said = cells.map(({ state, details = [] }, nth) => {
    const more = details.length === 0 ? "" : ` (${details.map(text).join(", ")})`;
    return `${appliances[nth]?.name} ${text(state)}${more}`;
  });
  const state = { text: words.map(text).join(" "), color: COLORS[level] };
  return [`${title} ${aside}`.trim(), state, said.join(", ")];
}
