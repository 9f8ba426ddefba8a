import type { PollResult } from "../polling/observation.ts";

/** A result for machines: indented JSON and a line break. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Rows in columns as wide as their widest cell, two blanks apart, under a header in capitals. Ends in a line break. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(printable))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const pad = (cell: string, column: number): string => cell.padEnd(widths[column] ?? 0);
  return lines.map((line) => `${line.map(pad).join("  ").trimEnd()}\n`).join("");
}

/** An instant as RFC 3339 in UTC, to the second; `atMs`: Unix time. */
export function formatDate(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** What a poll yielded, in a few words. */
export function describeOutcome(result: PollResult): string {
  if (!result.outcome.ok) return result.outcome.failure.message;
  if (result.kind === "website_test") {
    return result.outcome.value.map(({ protocol, status }) => `${protocol} ${status}`).join(", ");
  }
  const { interfaces, anomalies } = result.outcome.value;
  const count = `${interfaces.length} ${interfaces.length === 1 ? "interface" : "interfaces"}`;
  return anomalies.length === 0 ? count : `${count}, api anomalies: ${anomalies.length}`;
}

/** A text on one line that cannot steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "\uFFFD");
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
