import { readLines, type ReadFile, type TimeRange } from "../journal/day-files.ts";
import { DamagedLines } from "../journal/lines.ts";
import { createNews } from "../journal/news.ts";
import { atOf } from "../journal/record.ts";
import { printable } from "../../support/text.ts";
import type { Availability } from "./availability.ts";
import { createHistory, SETTLED_MS, type RangeHistory } from "./history.ts";
import type { ReportSelection } from "./selection.ts";
import type { JournalSource } from "./sources.ts";

/** The report about a month. Instants are RFC 3339 in UTC. */
export interface MonthReport extends Availability {
  /** The version of the program that made the report, and the instant at which it did. */
  readonly version: string;
  readonly createdAt: string;
  /** The month, such as `2026-10`. */
  readonly month: string;
  readonly timeZone: string;
  readonly from: string;
  /** The end of the month, or the instant of the report if the month was not over. */
  readonly to: string;
  readonly isOver: boolean;
  /** The names and labels by which clusters were selected; absent if all are in the report. */
  readonly selection?: ReportSelection | undefined;
  readonly sources: readonly JournalSource[];
}

export interface ReadingEvents {
  /** Reports a day that is being read, such as `2026-10-01`. */
  readonly onDay: (day: string) => void;
  /** Reports that the rest of a file cannot be read. */
  readonly onDamaged: (path: string, error: unknown) => void;
}

/** Returns the history of a range of time by a journal. Rejects if its folder cannot be read. */
export async function readHistory(
  folder: string,
  { fromMs, toMs }: TimeRange,
  { onDay, onDamaged }: ReadingEvents,
): Promise<RangeHistory> {
  const history = createHistory({ fromMs, toMs });
  const newsIn = createNews();
  const files: ReadFile[] = [];
  let [damagedLines, cutFiles] = [0, 0];
  const range = { fromMs, toMs: toMs + SETTLED_MS };
  const damaged = (path: string, error: unknown): void => {
    if (error instanceof DamagedLines) damagedLines += error.count;
    else cutFiles += 1;
    onDamaged(path, error);
  };
  for await (const lines of readLines(folder, range, damaged, (file) => void files.push(file))) {
    onDay(atOf(lines[0] ?? "").slice(0, "2026-10-01".length));
    for (const line of lines) {
      const record = newsIn(line);
      if (record !== undefined) history.read(record);
    }
  }
  return history.end({ folder, files, damagedLines, cutFiles });
}

/** Returns the figures as indented JSON, without the spans of time behind them. */
export function formatJson(report: MonthReport): string {
  return printable(`${JSON.stringify(report, withoutSpans, 2)}\n`);
}

function withoutSpans(key: string, value: unknown): unknown {
  return key === "spans" ? undefined : value;
}
