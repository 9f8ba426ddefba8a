import { exportedStatuses, type WebsiteStatus, type WebsiteTest } from "../api/website-test.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { PollResult } from "../polling/observation.ts";
import type { Cell } from "./table.ts";

/** What JSON may hold as it is, and a terminal would act on. */
const STEERING = /[\u007F-\u009F\p{Bidi_Control}]/gu;

/** A result for machines: indented JSON and a line break. Escaped so that it does no harm to a terminal either. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(STEERING, escape)}\n`;
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** An instant as RFC 3339 in UTC, to the second; `atMs`: Unix time. */
export function formatDate(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** What a poll yielded, in a few words. */
export function describeOutcome(result: PollResult, appliance: ApplianceConfig): string {
  if (!result.outcome.ok) return result.outcome.failure.message;
  if (result.kind === "website_test") {
    return websiteStatuses(result.websiteId, result.outcome.value, appliance)
      .map(({ protocol, status, text }) => `${protocol} ${status}${text === undefined ? "" : ` (${text})`}`)
      .join(", ");
  }
  const { interfaces, anomalies } = result.outcome.value;
  const count = `${interfaces.length} ${interfaces.length === 1 ? "interface" : "interfaces"}`;
  return anomalies.length === 0 ? count : `${count}, api anomalies: ${anomalies.length}`;
}

/** What a test says of the protocols that are exported for the website. */
export function websiteStatuses(
  websiteId: number,
  test: WebsiteTest,
  { websites }: ApplianceConfig,
): readonly WebsiteStatus[] {
  return exportedStatuses(test, websites.find(({ id }) => id === websiteId)?.protocols);
}

/** Whether a poll succeeded, as a cell: `ok`, or the reason why it did not. */
export function outcomeCell({ outcome }: PollResult): Cell {
  return outcome.ok ? { text: "ok", tone: "good" } : { text: outcome.failure.reason, tone: "bad" };
}
