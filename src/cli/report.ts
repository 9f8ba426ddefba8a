import type { PollResult } from "../polling/observation.ts";
import type { Cell } from "./table.ts";

/** A result for machines: indented JSON and a line break. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
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

/** Whether a poll succeeded, as a cell: `ok`, or the reason why it did not. */
export function outcomeCell({ outcome }: PollResult): Cell {
  return outcome.ok ? { text: "ok", tone: "good" } : { text: outcome.failure.reason, tone: "bad" };
}
