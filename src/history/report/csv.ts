import { addressName } from "../../exporter/judge/words.ts";
import { printable } from "../../support/text.ts";
import type { ClusterRow, GroupRow, AvailabilityRow, WebsiteRow } from "./availability.ts";
import type { MonthReport } from "./month-report.ts";

interface CsvLine {
  readonly report: MonthReport;
  readonly cluster: ClusterRow;
  /** The row of the cluster, or of one of its groups or websites. */
  readonly row: AvailabilityRow;
  readonly group?: GroupRow;
  readonly website?: WebsiteRow;
}

const COLUMNS: Readonly<Record<string, (line: CsvLine) => string | number | undefined>> = {
  month: ({ report }) => report.month,
  time_zone: ({ report }) => report.timeZone,
  from: ({ report }) => report.from,
  to: ({ report }) => report.to,
  kind: ({ group, website }) => (group && "group") ?? (website && "website") ?? "cluster",
  cluster: ({ cluster }) => cluster.name,
  vip: ({ group }) => group && addressName(group.vip, group),
  vhid: ({ group }) => group?.vhid,
  website_id: ({ website }) => website?.id,
  website: ({ website }) => website?.name,
  protocol: ({ website }) => website?.protocol,
  up_ms: ({ row }) => row.upMs,
  down_ms: ({ row }) => row.downMs,
  unknown_ms: ({ row }) => row.unknownMs,
  planned_ms: ({ row }) => row.plannedMs,
  availability: ({ row }) => row.availability,
  split_brain_ms: ({ group }) => group?.splitBrainMs,
  no_master_ms: ({ group }) => group?.noMasterMs,
  ready: ({ cluster, row }) => (row === cluster ? cluster.readiness?.ready : undefined),
  known_since: ({ row }) => row.knownSince,
  gone_since: ({ row }) => row.goneSince,
  ready_ms: ({ cluster, row }) => (row === cluster ? cluster.readiness?.readyMs : undefined),
  not_ready_ms: ({ cluster, row }) => (row === cluster ? cluster.readiness?.notReadyMs : undefined),
  no_answer_ms: ({ row }) => row.unansweredMs,
  not_watched_ms: ({ row }) => row.unknownMs - row.unansweredMs,
  availability_at_least: ({ row }) => row.availabilityAtLeast,
  outages: ({ row }) => row.outages,
  mean_outage_ms: ({ row }) => row.meanOutageMs,
};

/** With this mark, a spreadsheet reads UTF-8. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Returns a line with the names of the columns, and a line for each cluster, group and website, in the format of RFC 4180, after a byte
 * order mark. Each text is quoted, and no number is.
 */
export function formatCsv(report: MonthReport): string {
  const lines = report.clusters.flatMap((cluster): readonly CsvLine[] => [
    { report, cluster, row: cluster },
    ...cluster.groups.map((group) => ({ report, cluster, row: group, group })),
    ...cluster.websites.map((website) => ({ report, cluster, row: website, website })),
  ]);
  const rows = lines.map((line) => Object.values(COLUMNS).map((cellOf) => cellOf(line)));
  const all = [Object.keys(COLUMNS), ...rows];
  return BYTE_ORDER_MARK + all.map((cells) => `${cells.map(formatCell).join(",")}\r\n`).join("");
}

/**
 * The places at which a part of a text begins that a spreadsheet may interpret as a formula. Depending on its settings, a part begins at the
 * start, or after any of these separators, also in quotes; quotes and white space may precede the formula.
 */
const FORMULA = /(?<=^|[,;\t\r\n])(?=[\t\r\n]|[\s"]*[=+\-@＝＋－＠])/g;

function formatCell(value: string | number = ""): string {
  if (typeof value === "number") return String(value);
  return value === "" ? "" : `"${printable(value.replace(FORMULA, "'")).replaceAll('"', '""')}"`;
}
