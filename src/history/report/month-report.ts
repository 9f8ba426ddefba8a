import { readLines, type TimeRange } from "../journal/day-files.ts";
import { createNews } from "../journal/news.ts";
import { atOf } from "../journal/record.ts";
import { printable } from "../../support/text.ts";
import type { Availability } from "./availability.ts";
import { createHistory, SETTLED_MS, type RangeHistory } from "./history.ts";

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
  for await (const lines of readLines(folder, { fromMs, toMs: toMs + SETTLED_MS }, onDamaged)) {
    onDay(atOf(lines[0] ?? "").slice(0, "2026-10-01".length));
    for (const line of lines) {
      const record = newsIn(line);
      if (record !== undefined) history.read(record);
    }
  }
  return history.end();
}

/** Returns the figures as indented JSON, without the spans of time behind them. */
export function formatJson(report: MonthReport): string {
  return printable(`${JSON.stringify(report, withoutSpans, 2)}\n`);
}

function withoutSpans(key: string, value: unknown): unknown {
  return key === "spans" ? undefined : value;
}
