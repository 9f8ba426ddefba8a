import { html, nothing, type Html } from "../../exporter/page/view/html.ts";
import { picture } from "../../exporter/page/view/strip.ts";
import type { KnownIncident } from "../../exporter/document/schema.ts";
import { addressName } from "../../exporter/judge/words.ts";
import { count, listed } from "../../support/text.ts";
import { NOTABLE_MS, pastWords, percent, percentOfKnown } from "../../exporter/view/past.ts";
import { inWords } from "../../exporter/view/words.ts";
import { websiteTitle, type ClusterRow, type Outage, type AvailabilityRow } from "./availability.ts";
import type { Calendar } from "./calendar.ts";
import type { MonthReport } from "./month-report.ts";
import { binsOf } from "./bins.ts";
import type { JournalSource } from "./sources.ts";
import { STYLE } from "./style.ts";

interface ReportView {
  readonly report: MonthReport;
  /** Formats an instant, RFC 3339 in UTC, in the time zone of the report. */
  readonly at: (instant: string) => string;
  /** The dates above the strips. */
  readonly axis: Html;
}

/** Returns a report as one file without scripts, which prints well. */
export function formatHtml(report: MonthReport, calendar: Calendar): string {
  const at = (instant: string): string => calendar.format(Date.parse(instant));
  const view: ReportView = { report, at, axis: axisOf(report, calendar) };
  const { month, timeZone, from, to, isOver, clusters, outages, unanswered, failovers, windows } = report;
  const title = `Availability in ${monthName(month)}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${{ text: STYLE }}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>
            From ${at(from)} to ${at(to)}, time zone ${timeZone}.
            ${isOver ? nothing : html`<strong>The month is not over.</strong>`}
          </p>
          ${selectionLine(report)}
          <h2>Clusters</h2>
          ${clusterTable(clusters, view)} ${clusters.map((each) => clusterParts(each, view))}
          <h2>Longest outages</h2>
          ${outageTable("Longest outages", outages, view)}
          <h2>Longest times without an answer</h2>
          ${outageTable("Longest times without an answer", unanswered, view)}
          <h2>Failovers</h2>
          <p>${failoverWords(failovers)}</p>
          ${failoverTable(failovers, view)}
          <h2>Planned work</h2>
          ${windowTable(windows, view)}
          <h2>How to read this</h2>
          ${NOTES.map((note) => html`<p>${note}</p> `)}
          <h2>What this was made from</h2>
          ${report.sources.map((each) => sourceParts(each))}
          <p>${againWords(report)} <code>${commandOf(report)}</code>.</p>
          <p class="note">Made by appliance-exporter ${report.version} at ${at(report.createdAt)}.</p>
        </main>
      </body>
    </html> `.text;
}

const NOTES = [
  "Up, down, no answer, not watched and planned are together the whole time. Availability is up / (up + down): unknown and planned time never counts as up. Where the time without an answer is a minute or more, the second figure, at least, counts it as down. Both are cut after three decimals, never rounded up. Times are hours, minutes and seconds; up is rounded down, all others are rounded up. Long names lack their middle.",
  "A website is up in the states up, unstable and partially down, and down in the states down and down at master. A VRRP group is up while it has one known master, and down while it has several (split brain) or none. A cluster is down while one of its groups and websites is, and up while all of them are. Ready is the part of the known time in which a failover would have lost nothing.",
  "Unknown time has two parts. No answer: it was watched, and nobody could tell its state, since appliances did not answer or no master was known; visitors may have been without it. Not watched: the exporter did not run, its clock was set, or the subject was not known or not configured yet.",
  "An outage goes on through unknown or planned time after which it is still down. Mean outage is the known down time of one on average, the mean time to repair. In each table the rows that are known to be up for the smallest part of the time come first, so that a row with much unknown time is never among the best.",
  "Strips show the worst state in each eight hours: a low bar is up, a higher one is up with a problem, a blue one is planned work, a full one is down, and a hairline is mostly unknown, or was without an answer for a minute or more.",
];
const LEFT_OUT = "left out, since a journal has a limit for each day; what they would say is unknown";

function monthName(month: string): string {
  const style = { month: "long", year: "numeric", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat("en", style).format(Date.parse(`${month}-01`));
}

/** A row of figures: a name, a further part of its identity, and the cells of further columns. */
interface TableLine {
  readonly name: string;
  readonly aside?: string;
  readonly row: AvailabilityRow;
  readonly further?: readonly string[];
}

function clusterTable(clusters: readonly ClusterRow[], view: ReportView): Html {
  const { fromMs, toMs } = rangeOf(view.report);
  const wholeMs = toMs - fromMs;
  const lines = clusters.map((row): TableLine => {
    const { readyMs = 0, notReadyMs = 0 } = row.readiness ?? {};
    const unknownMs = wholeMs - readyMs - notReadyMs;
    return { name: row.name, row, further: [percentOfKnown(readyMs, notReadyMs, unknownMs)] };
  });
  return figureTable(["Cluster", ["Ready"]], "Clusters", lines, view);
}

function clusterParts({ name, groups, websites }: ClusterRow, view: ReportView): Html {
  const groupLines = groups.map((row): TableLine => {
    const further = [clock(row.splitBrainMs), clock(row.noMasterMs)];
    return { name: addressName(row.vip, row), aside: `vhid ${row.vhid}`, row, further };
  });
  const websiteLines = websites.map((row): TableLine => ({
    name: websiteTitle(row),
    aside: `id ${row.id}`,
    row,
  }));
  const title = cut(name);
  return html`<h2>Cluster ${title}</h2>
    ${figureTable(["VRRP group", ["Split brain", "No master"]], `VRRP groups of ${title}`, groupLines, view)}
    ${figureTable(["Website", []], `Websites of ${title}`, websiteLines, view)}`;
}

const FIGURES = [
  "Availability",
  "Up",
  "Down",
  "Outages",
  "Mean outage",
  "No answer",
  "Not watched",
  "Planned",
];

function figureTable(
  [title, further]: readonly [title: string, further: readonly string[]],
  label: string,
  lines: readonly TableLine[],
  view: ReportView,
): Html {
  if (lines.length === 0) return nothing;
  const head = html`${heads([title])}
    <th scope="col">${view.axis}</th>
    ${heads([...FIGURES, ...further])}`;
  return table(
    "figures",
    label,
    head,
    lines.map((line) => figureRow(line, view)),
  );
}

/** Returns a table. On a narrow screen the table alone scrolls. */
function table(name: string, label: string, head: Html, rows: readonly Html[]): Html {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}">
    <table class="${name}">
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function heads(titles: readonly string[]): readonly Html[] {
  return titles.map((title) => html`<th scope="col">${title}</th>`);
}

function figureRow({ name, aside = "", row, further = [] }: TableLine, view: ReportView): Html {
  const { upMs, downMs, unknownMs, unansweredMs, plannedMs, spans, outages, meanOutageMs = 0 } = row;
  const times = [
    clock(upMs, Math.floor),
    clock(downMs),
    outages === 0 ? "–" : String(outages),
    clock(meanOutageMs),
    clock(unansweredMs),
    clock(unknownMs - unansweredMs),
    clock(plannedMs),
    ...further,
  ];
  const isSure = unansweredMs < NOTABLE_MS;
  return html`<tr>
    <th scope="row">
      ${cut(name)} <span class="note">${aside}</span>
      ${lifeOf(row, view).map((note) => html`<br /><span class="note">${note}</span>`)}
    </th>
    <td>${picture({ bins: binsOf(spans, rangeOf(view.report)) }, pastWords({ ...row, downs: outages }))}</td>
    <td ${downMs > 0 || !isSure ? html`class="less"` : nothing}>
      ${percent(upMs, downMs)}
      ${isSure ? nothing : html`<br />at least ${percent(upMs, downMs + unansweredMs)}`}
    </td>
    ${times.map((time) => html`<td>${time}</td>`)}
  </tr> `;
}

/** Explains time that is unknown. */
function lifeOf({ knownSince, goneSince }: AvailabilityRow, { report, at }: ReportView): readonly string[] {
  const known = knownSince === undefined ? "never known" : `known since ${at(knownSince)}`;
  return [
    ...(knownSince === report.from ? [] : [known]),
    ...(goneSince === undefined ? [] : [`not configured since ${at(goneSince)}`]),
  ];
}

function rangeOf({ from, to }: MonthReport) {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}

/** Returns the dates above the strips: the first of the month, and each seventh date after it. */
function axisOf(report: MonthReport, calendar: Calendar): Html {
  const { fromMs, toMs } = rangeOf(report);
  const marks = calendar.daysOf(report.month).flatMap((ms, nth) => {
    const left = (100 * (ms - fromMs)) / (toMs - fromMs);
    return nth % 7 !== 0 || left >= 98 ? [] : html`<text x="${left.toFixed(2)}%" y="13">${nth + 1}</text>`;
  });
  return html`<svg class="axis" role="img" aria-label="Days of the month">${marks}</svg>`;
}

function outageTable(title: string, outages: readonly Outage[], { at }: ReportView): Html {
  const rows = outages.map(({ cluster, subject, from, to, durationMs }) => {
    return [at(from), at(to), clock(durationMs), cut(cluster), cut(subject)];
  });
  return textTable(title, ["From", "To", "Length", "Cluster", "What"], rows);
}

function failoverTable(failovers: readonly KnownIncident[], { at }: ReportView): Html {
  const rows = failovers.map(({ begin, cluster, failover, summary, isPlanned }) => {
    const planned = plannedWords({ failover, isPlanned });
    return [at(begin), cut(cluster), planned, inWords(failover?.cause), summary];
  });
  return textTable("Failovers", ["When it was seen", "Cluster", "Planned", "Cause", "What happened"], rows);
}

type OneOrMany = Pick<KnownIncident, "failover" | "isPlanned">;

/** Returns how many failovers there were; members that took over from each other again and again did each time. */
function numberOf({ failover }: OneOrMany): number {
  return failover?.repeated?.count ?? 1;
}

/** Returns how many of them followed from planned work; an older exporter said that of all, by the latest one. */
function plannedOf(one: OneOrMany): number {
  return one.failover?.repeated?.planned ?? (one.isPlanned === true ? numberOf(one) : 0);
}

function plannedWords(one: OneOrMany): string {
  const planned = plannedOf(one);
  if (planned === 0) return "";
  return planned === numberOf(one) ? "planned" : `${planned} of ${numberOf(one)}`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Returns `5 failovers, of which 2 followed from planned work.` */
function failoverWords(failovers: readonly KnownIncident[]): string {
  const [all, planned] = [sumOf(failovers.map(numberOf)), sumOf(failovers.map(plannedOf))];
  return `${count(all, "failover")}, of which ${planned} followed from planned work.`;
}

function windowTable(windows: MonthReport["windows"], { at }: ReportView): Html {
  const rows = windows.map(({ begin, end, appliances, clusters, labels, comment, by, changedBy, origin }) => {
    const pairs = Object.entries(labels).map((pair) => pair.join("="));
    const what = listed([...clusters, ...appliances, ...pairs].map(cut), MAX_NAMED);
    const who = by ?? "the configuration";
    const changed = changedBy === undefined ? who : `${who}, changed by ${changedBy}`;
    return [at(begin), at(end), what, origin === "drill" ? `drill: ${comment}` : comment, changed];
  });
  return textTable("Planned work", ["Begin", "End", "Work on", "Why", "By"], rows);
}

function selectionLine({ selection, clusters }: MonthReport): Html {
  if (selection === undefined) return nothing;
  const pairs = Object.entries(selection.labels).map((pair) => pair.join("="));
  const by = listed([...selection.clusters.map(cut), ...pairs], MAX_NAMED);
  return html`<p>Only what was selected by ${by}: ${count(clusters.length, "cluster")}.</p>`;
}

/** Returns where the figures come from: a journal, its exporters and its files. */
function sourceParts(source: JournalSource): Html {
  const { folder, starts, gaps, setBack, versions, shards, leftOut, damagedLines, cutFiles, files } = source;
  const damage = damagedLines === 0 ? "" : `, ${count(damagedLines, "line")} damaged or missing`;
  const cutOff = cutFiles === 0 ? "" : `, ${count(cutFiles, "file")} not readable to the end`;
  const left = leftOut === 0 ? "no record left out" : `${count(leftOut, "record")} ${LEFT_OUT}`;
  const back = setBack === 0 ? "" : `, of which ${setBack} with a clock that was set back`;
  const version = listed(versions, MAX_NAMED) || "not known";
  const shard = listed(shards, MAX_NAMED) || "not known";
  return html`<p>
      The journal <code>${folder}</code>, written by version ${version}, shard ${shard}:
      ${count(starts, "start")} of the exporter and ${count(gaps, "gap")}${back}; ${left}${damage}${cutOff}.
      ${count(files.length, "file")}:
    </p>
    <ul class="files">
      ${files.map(({ name, bytes, sha256 }) =>
        sha256 === undefined
          ? html`<li>${name}, not readable to the end</li> `
          : html`<li>${name}, ${String(bytes)} bytes, SHA-256 <code>${sha256}</code></li> `,
      )}
    </ul>`;
}

/** A report that ends now cannot be made again: the same command has an end of its own. */
function againWords({ isOver }: MonthReport): string {
  return isOver
    ? "To make it again from the same files, run"
    : "It cannot be made again, since it ends now and the month does not. Once the month is over, run";
}

function commandOf({ month, timeZone, selection, sources }: MonthReport): string {
  const flags = [
    `--month=${month}`,
    `--timezone=${timeZone}`,
    ...(selection?.clusters ?? []).map((name) => `--cluster=${name}`),
    ...Object.entries(selection?.labels ?? {}).map((pair) => `--label=${pair.join("=")}`),
    ...sources.map(({ folder }) => `--storage.path=${folder}`),
  ];
  return ["appliance-exporter report", ...flags.map(quoted)].join(" ");
}

/** Returns a word of a command for the shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The most names in a list. */
const MAX_NAMED = 8;

function textTable(label: string, titles: readonly string[], rows: readonly (readonly string[])[]): Html {
  if (rows.length === 0) return html`<p>None.</p>`;
  const lines = rows.map(
    (cells) =>
      html`<tr>
        ${cells.map((cell) => html`<td>${cell}</td>`)}
      </tr> `,
  );
  return table("texts", label, html`${heads(titles)}`, lines);
}

const MAX_NAME = 64;
const NAME_END = 24;

/** Returns a long name without its middle, since long names often begin alike, and end in a protocol or VHID here. */
function cut(name: string): string {
  const all = Array.from(name);
  if (all.length <= MAX_NAME) return name;
  return `${all.slice(0, MAX_NAME - NAME_END - 1).join("")}…${all.slice(-NAME_END).join("")}`;
}

/** Returns `743:59:12`; `–` for none. */
function clock(ms: number, round = Math.ceil): string {
  if (ms === 0) return "–";
  const seconds = round(ms / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  const padded = [minutes % 60, seconds % 60].map((each) => String(each).padStart(2, "0"));
  return [hours, ...padded].join(":");
}
