import { printable } from "../support/text.ts";
import type { ClusterRow, GroupRow, Row, WebsiteRow } from "./availability.ts";
import type { MonthReport } from "./month-report.ts";

interface Line {
  readonly report: MonthReport;
  readonly cluster: ClusterRow;
  /** The row of the cluster, or of one of its groups or websites. */
  readonly row: Row;
  readonly group?: GroupRow;
  readonly website?: WebsiteRow;
}

const COLUMNS: Readonly<Record<string, (line: Line) => string | number | undefined>> = {
  month: ({ report }) => report.month,
  time_zone: ({ report }) => report.timeZone,
  from: ({ report }) => report.from,
  to: ({ report }) => report.to,
  kind: ({ group, website }) => (group && "group") ?? (website && "website") ?? "cluster",
  cluster: ({ cluster }) => cluster.name,
  vip: ({ group }) => group?.vip,
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
};

/** Returns a line with the names of the columns, and a line for each cluster, group and website, in the format of RFC 4180. */
export function formatCsv(report: MonthReport): string {
  const lines = report.clusters.flatMap((cluster): readonly Line[] => [
    { report, cluster, row: cluster },
    ...cluster.groups.map((group) => ({ report, cluster, row: group, group })),
    ...cluster.websites.map((website) => ({ report, cluster, row: website, website })),
  ]);
  const rows = lines.map((line) => Object.values(COLUMNS).map((cellOf) => formatCell(cellOf(line))));
  return [Object.keys(COLUMNS), ...rows].map((cells) => `${cells.join(",")}\r\n`).join("");
}

/** Spreadsheets interpret a text with this beginning as a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

function formatCell(value: string | number = ""): string {
  if (typeof value === "number") return String(value);
  const text = printable(FORMULA.test(value) ? `'${value}` : value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
