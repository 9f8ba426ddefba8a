import type { ApplianceConfig } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { createFleet } from "../fleet/fleet.ts";
import { createFleetExposition } from "../metrics/exposition.ts";
import { FACT_FAMILIES } from "../metrics/families.ts";
import { createJudge } from "../status/judge.ts";
import { operationKey, type Observation } from "../polling/observation.ts";
import { createPollOnce, type OperationResult } from "./poll-once.ts";
import { adviceText } from "./advice.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { escaped, printableLines } from "./printable.ts";
import {
  describeOutcome,
  describeUnknown,
  hasSucceeded,
  outcomeCell,
  printErrors,
  toJson,
  websiteStatuses,
} from "./report.ts";
import { formatTable } from "./table.ts";

/** Polls the VRRP list and all websites of an appliance once; prints the results and the samples. */
export async function poll(
  { "config.file": file, raw: isRaw = false, output: format }: Flags,
  io: Io,
  [name = ""]: readonly string[],
): Promise<ExitCode> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) return printErrors(loaded.errors, io);
  const { appliances } = loaded.config;
  const appliance = appliances.find((candidate) => candidate.name === name);
  if (appliance === undefined) {
    io.err(describeUnknown(name, file, appliances));
    return 2;
  }
  const results = await createPollOnce(io)(appliance);
  if (format === "json") io.out(toJson(jsonReport(appliance, results, isRaw)));
  else {
    io.out(resultTable(appliance, results, io.hasColor));
    const observations = results.map(({ observation }) => observation);
    io.out(adviceText([{ appliance, observations }]));
    io.out(isRaw ? rawReport(results, io.isTerminal) : `\n${await samplesOf(appliance, results)}`);
  }
  return results.every(({ observation }) => hasSucceeded(observation)) ? 0 : 1;
}

/** What the appliance reported as samples; verdicts need all appliances of its cluster. */
async function samplesOf(appliance: ApplianceConfig, results: readonly OperationResult[]): Promise<string> {
  const fleet = createFleet();
  fleet.configure({ appliances: [{ ...appliance, enabled: true }] }, 0);
  for (const { observation } of results) fleet.record(observation, 0);
  const facts = fleet.cluster(appliance.cluster, 0);
  const judged = facts === undefined ? [] : [createJudge().judge(facts, { wallMs: 0, monotonicMs: 0 }).now];
  const exposition = createFleetExposition({ families: FACT_FAMILIES });
  const text = await exposition.render("", judged);
  return printableLines(text.toString().replace(/^#.*\n/gm, ""));
}

function resultTable(
  appliance: ApplianceConfig,
  results: readonly OperationResult[],
  hasColor: boolean,
): string {
  const rows = results.map(({ observation }) => [
    operationKey(observation),
    outcomeCell(observation, appliance),
    `${(observation.durationSeconds ?? 0).toFixed(3)} s`,
    describeOutcome(observation, appliance),
  ]);
  return formatTable(["operation", "result", "duration", "detail"], rows, hasColor);
}

/** The response bodies; control characters are escaped for a terminal only. */
function rawReport(results: readonly OperationResult[], isTerminal: boolean): string {
  const text = results
    .map(
      ({ observation, body }) =>
        `\n${operationKey(observation)}:\n${body ?? "(no response with status 200)"}\n`,
    )
    .join("");
  return isTerminal ? escaped(text) : text;
}

function jsonReport(
  appliance: ApplianceConfig,
  results: readonly OperationResult[],
  isRaw: boolean,
): Record<string, unknown> {
  const operations = results.map(({ observation, body }) => {
    const { outcome, durationSeconds } = observation;
    const result = outcome.ok ? { value: valueOf(observation, appliance) } : { failure: outcome.failure };
    const operation = operationKey(observation);
    return { operation, ok: outcome.ok, durationSeconds, ...result, ...(isRaw ? { body } : {}) };
  });
  const certificate = results.at(-1)?.observation.certificate;
  return { appliance: appliance.name, cluster: appliance.cluster, certificate, operations };
}

function valueOf(observation: Observation, appliance: ApplianceConfig): unknown {
  if (!observation.outcome.ok) return undefined;
  return observation.kind === "website_test"
    ? websiteStatuses(observation.websiteId, observation.outcome.value, appliance)
    : observation.outcome.value;
}
