import { readFailure } from "../../exporter/config/read-file.ts";
import { DamagedLines } from "../journal/lines.ts";
import { errorCode, messageOf } from "../../support/errors.ts";
import { namedFiles, type TimeRange } from "../journal/day-files.ts";
import { availabilityOf } from "../report/availability.ts";
import { createCalendar, type Calendar } from "../report/calendar.ts";
import { formatCsv } from "../report/csv.ts";
import { merged, NO_HISTORY, type RangeHistory } from "../report/history.ts";
import { formatHtml } from "../report/html.ts";
import { formatJson, readHistory, type MonthReport } from "../report/month-report.ts";
import { clustersIn, selected } from "../report/selection.ts";
import { instantOf } from "../../exporter/judge/words.ts";
import { listedBriefly, printable } from "../../support/text.ts";
import { TIME_ZONE_FORM } from "../../support/time-zone.ts";
import { fail, type ExitCode, type Io } from "../../exporter/command/command.ts";

export interface ReportFlags {
  readonly month: string;
  readonly timezone: string;
  readonly output: keyof typeof FORMATS;
  readonly "storage.path": readonly string[];
  readonly cluster?: readonly string[];
  /** Each as `name=value`. */
  readonly label?: readonly string[];
}

const FORMATS = { html: formatHtml, csv: formatCsv, json: formatJson } as const satisfies Readonly<
  Record<string, (report: MonthReport, calendar: Calendar) => string>
>;

/** Writes what was available in a month, from one journal or several. Returns 1 if nothing can be reported, and 2 after a usage error. */
export async function report(flags: ReportFlags, io: Io): Promise<ExitCode> {
  const { month, timezone: timeZone, output, "storage.path": folders } = flags;
  const calendar = createCalendar(timeZone);
  if (calendar === undefined)
    return fail(io, `error: option '--timezone <name>': expected ${TIME_ZONE_FORM}`, 2);
  const { fromMs, toMs: endMs } = calendar.monthOf(month);
  const nowMs = io.clock.wallMs();
  if (nowMs <= fromMs) return fail(io, `${month} has not begun: it begins at ${calendar.format(fromMs)}`);
  const range = { fromMs, toMs: Math.min(nowMs, endMs) };
  const all = await readAll(folders, range, io);
  if (typeof all === "number") return all;
  const selection = { clusters: flags.cluster ?? [], labels: labelsOf(flags.label ?? []) };
  const known = clustersIn(all);
  const missing = selection.clusters.find((name) => !known.includes(name));
  if (missing !== undefined && known.length > 0)
    return fail(
      io,
      printable(`nothing is known of the cluster ${missing}; there are ${listedBriefly(known)}`),
    );
  const history = selected(all, selection);
  if (known.length > 0 && clustersIn(history).length === 0)
    return fail(io, "no cluster has these labels; journals of earlier versions have no labels");
  const availability = availabilityOf(history, range);
  if (availability.clusters.length === 0)
    return fail(io, `nothing is known of ${month}: ${(await Promise.all(folders.map(daysIn))).join("; ")}`);
  const made = {
    version: io.version,
    createdAt: instantOf(nowMs),
    month,
    timeZone,
    from: instantOf(range.fromMs),
    to: instantOf(range.toMs),
    isOver: range.toMs === endMs,
    selection: history === all ? undefined : selection,
    ...availability,
    sources: all.sources,
  };
  io.out(FORMATS[output](made, calendar));
  return 0;
}

function labelsOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map((pair) => [pair.replace(/=.*/s, ""), pair.replace(/^[^=]*=/, "")]));
}

/** Reads all journals. After an error, which it prints, it returns the exit code. */
async function readAll(
  folders: readonly string[],
  range: TimeRange,
  io: Io,
): Promise<RangeHistory | ExitCode> {
  let all = NO_HISTORY;
  for (const folder of folders) {
    try {
      const history = await readHistory(folder, range, {
        onDay: (day) => io.progress(`${folder}: ${day}`),
        onDamaged: (path, error) => io.err(`${path}: warning: ${damageWords(error)}\n`),
      });
      all = merged(all, history);
    } catch (error) {
      return fail(io, `${folder}: ${readFailure(error).message}`);
    } finally {
      io.progress("");
    }
  }
  return all;
}

function damageWords(error: unknown): string {
  if (error instanceof DamagedLines) return `${error.message}; what they said is unknown`;
  const detail = errorCode(error) === undefined ? messageOf(error) : readFailure(error).message;
  return `${detail}; what the rest of it would say is unknown`;
}

/** Says from which days a journal has records. */
async function daysIn(folder: string): Promise<string> {
  const days = (await namedFiles(folder)).map(({ day }) => day);
  return days.length === 0 ? `${folder} has no journal` : `${folder} has ${days[0]} to ${days.at(-1)}`;
}
