import { describeServer } from "../status/words.ts";
import type { WebsiteDetails } from "../api/website-details.ts";
import { addressOf } from "../fleet/known-websites.ts";
import {
  exportedStatuses,
  type Protocol,
  type WebsiteStatus,
  type WebsiteTest,
} from "../api/website-test.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceConfig, ConfigError } from "../config/config.ts";
import { formatErrors } from "../config/errors.ts";
import { operationKey, type Observation, type PollResult } from "../polling/observation.ts";
import type { ExitCode, Io } from "./io.ts";
import type { OperationResult } from "./poll-once.ts";
import { formatTable, type Cell } from "./table.ts";

/** Prints configuration errors, a line each, and returns the exit code. */
export function printErrors(errors: readonly ConfigError[], io: Io, exitCode: ExitCode = 1): ExitCode {
  io.err(`${formatErrors(errors).join("\n")}\n`);
  return exitCode;
}

/** Characters that JSON allows unescaped and a terminal interprets. */
const CONTROL = /[\u007F-\u009F\p{Bidi_Control}]/gu;

/** Indented JSON and a line break, with control characters escaped. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(CONTROL, escape)}\n`;
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** An instant as RFC 3339 in UTC, to the second; `atMs`: Unix time. */
function formatDate(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** The end of a certificate's validity. */
export function formatEnd({ notAfterSeconds }: PresentedCertificate): string {
  return notAfterSeconds === undefined ? "?" : formatDate(notAfterSeconds * 1000);
}

/** The error line for the name of an appliance that is not configured. */
export function describeUnknown(name: string, file: string, appliances: readonly ApplianceConfig[]): string {
  const known = appliances.map((appliance) => appliance.name).join(", ") || "none";
  return `unknown appliance ${JSON.stringify(name)}; ${file} has ${known}\n`;
}

/** What was polled of an appliance, the VRRP list first. */
export interface Polled {
  readonly appliance: ApplianceConfig;
  readonly results: readonly OperationResult[];
}

/** Whether everything succeeded, except for operations that the appliance lacks, and covered the configured protocols. */
export function isSuccess({ appliance, results }: Polled): boolean {
  return results.every(({ observation }) => isGood(observation, appliance));
}

function isGood(observation: Observation, appliance: ApplianceConfig): boolean {
  const { outcome } = observation;
  if (!outcome.ok) return outcome.failure.reason === "unsupported";
  return untestedProtocols(observation, appliance).length === 0;
}

/** A row for each operation that was sent. */
export function resultTable(polled: readonly Polled[], hasColor: boolean): string {
  const rows = polled.flatMap(({ appliance, results }) =>
    results
      .map(({ observation }) => observation)
      // The row of the list shows already that the appliance is down.
      .filter(({ outcome }) => outcome.ok || outcome.failure.reason !== "appliance_down")
      .map((observation) => [
        appliance.name,
        operationText(observation, appliance),
        outcomeCell(observation, appliance),
        `${(observation.durationSeconds ?? 0).toFixed(3)} s`,
        describeOutcome(observation, appliance),
      ]),
  );
  return formatTable(["appliance", "operation", "result", "duration", "detail"], rows, hasColor);
}

/** The operation, with the configured name of its website: `website_test/2 (shop)`. */
function operationText(observation: Observation, { websites }: ApplianceConfig): string {
  const id = "websiteId" in observation ? observation.websiteId : undefined;
  const { name } = websites.find((website) => website.id === id) ?? {};
  const key = operationKey(observation);
  return name === undefined || name === String(id) ? key : `${key} (${name})`;
}

/** The results as data, with the response bodies if `isRaw`. */
export function jsonResult(polled: Polled, isRaw = false): Record<string, unknown> {
  const { appliance, results } = polled;
  const operations = results.map(({ observation, body }) => {
    const { outcome, durationSeconds } = observation;
    const result = outcome.ok ? { value: valueOf(observation, appliance) } : { failure: outcome.failure };
    const operation = operationKey(observation);
    const ok = isGood(observation, appliance);
    return { operation, ok, durationSeconds, ...result, ...(isRaw ? { body } : {}) };
  });
  const certificate = results.at(-1)?.observation.certificate;
  const { name, cluster } = appliance;
  return { appliance: name, cluster, ok: isSuccess(polled), certificate, operations };
}

function valueOf(observation: Observation, appliance: ApplianceConfig): unknown {
  if (!observation.outcome.ok) return undefined;
  return observation.kind === "website_test"
    ? websiteStatuses(observation.websiteId, observation.outcome.value, appliance)
    : observation.outcome.value;
}

/** Describes the result of a poll in a few words. */
function describeOutcome(result: PollResult, appliance: ApplianceConfig): string {
  if (!result.outcome.ok) return result.outcome.failure.message;
  if (result.kind === "website_test") {
    return websiteStatuses(result.websiteId, result.outcome.value, appliance)
      .map(({ protocol, status, text }) => `${protocol} ${status}${text === undefined ? "" : ` (${text})`}`)
      .join(", ");
  }
  if (result.kind === "website_details") return describeDetails(result.outcome.value);
  if (result.kind === "website_list") {
    const { ids, invalid } = result.outcome.value;
    const found = ids.length === 1 ? "1 website" : `${ids.length} websites`;
    return invalid.length === 0 ? found : `${found}, entries that are no ids: ${invalid.length}`;
  }
  const { interfaces, anomalies } = result.outcome.value;
  const count = `${interfaces.length} ${interfaces.length === 1 ? "interface" : "interfaces"}`;
  return anomalies.length === 0 ? count : `${count}, api anomalies: ${anomalies.length}`;
}

/** The configured protocols that a website test does not cover; the appliance has another setting for the website. */
export function untestedProtocols(result: PollResult, { websites }: ApplianceConfig): readonly Protocol[] {
  if (result.kind !== "website_test" || !result.outcome.ok) return [];
  const { blocks } = result.outcome.value;
  const configured = websites.find(({ id }) => id === result.websiteId)?.protocols ?? [];
  return configured.filter((protocol) => blocks.every((block) => block.protocol !== protocol));
}

/** `shop, https shop.example.org:443, protect, servers: 192.0.2.81:8080 ok, 192.0.2.82:8080 (backup) error`. */
function describeDetails(details: WebsiteDetails): string {
  const { name, protocol = "", mode = "unknown mode", isEnabled, backends = [], invalid } = details;
  const servers = backends.map(describeServer);
  return [
    name,
    `${protocol} ${addressOf(details)}`.trim(),
    isEnabled === false ? "disabled" : mode,
    ...(servers.length === 0 ? [] : [`servers: ${servers.join(", ")}`]),
    ...(invalid.length === 0 ? [] : [`api anomalies: ${invalid.length}`]),
  ].join(", ");
}

/** The statuses of the website's exported protocols. */
function websiteStatuses(
  websiteId: number,
  test: WebsiteTest,
  { websites }: ApplianceConfig,
): readonly WebsiteStatus[] {
  return exportedStatuses(test, websites.find(({ id }) => id === websiteId)?.protocols);
}

/** The result of a poll as a cell: `ok`, the reason of the failure, or the protocols that are not tested. */
function outcomeCell(result: PollResult, appliance: ApplianceConfig): Cell {
  if (!result.outcome.ok) return { text: result.outcome.failure.reason, tone: "failure" };
  const untested = untestedProtocols(result, appliance);
  return untested.length === 0
    ? { text: "ok", tone: "success" }
    : { text: `no ${untested.join(", no ")}`, tone: "failure" };
}
