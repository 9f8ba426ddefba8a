import type { ApplianceConfig } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { createFleet } from "../fleet/fleet.ts";
import { createFleetExposition } from "../metrics/exposition.ts";
import { FACT_FAMILIES } from "../metrics/families.ts";
import { createJudge } from "../status/judge.ts";
import { operationKey } from "../polling/observation.ts";
import { createPollOnce, type OperationResult } from "./poll-once.ts";
import { adviceText } from "./advice.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { escaped, printableLines } from "./printable.ts";
import { describeUnknown, isSuccess, jsonResult, printErrors, resultTable, toJson } from "./report.ts";

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
  const polled = { appliance, results };
  if (format === "json") io.out(toJson(jsonResult(polled, isRaw)));
  else {
    io.out(resultTable([polled], io.hasColor));
    io.out(adviceText([polled]));
    io.out(isRaw ? rawReport(results, io.isTerminal) : `\n${await samplesOf(appliance, results)}`);
  }
  return isSuccess(polled) ? 0 : 1;
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
