import type { ApplianceConfig } from "../config/config.ts";
import { formatConfigError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { createFleet } from "../fleet/fleet.ts";
import { createFleetExposition } from "../metrics/exposition.ts";
import { FACT_FAMILIES } from "../metrics/families.ts";
import { createJudge } from "../status/judge.ts";
import { operationKey, type Observation } from "../polling/observation.ts";
import { createAsk, type Asked } from "./asking.ts";
import type { ExitCode, Io } from "./io.ts";
import { printableLines, spelledOut } from "./printable.ts";
import { describeOutcome, outcomeCell, toJson, websiteStatuses } from "./report.ts";
import { formatTable } from "./table.ts";

export interface PollOptions {
  readonly name: string;
  readonly configFile: string;
  /** Show the answers as they came. */
  readonly raw: boolean;
  readonly output: "table" | "json";
}

/** Asks one appliance for its VRRP list and all its websites, now: what it said, and the samples that become of it. */
export async function poll({ name, configFile, raw, output }: PollOptions, io: Io): Promise<ExitCode> {
  const loaded = await loadConfig(configFile);
  if (!loaded.ok) {
    io.err(loaded.errors.map((error) => `${formatConfigError(error)}\n`).join(""));
    return 1;
  }
  const { appliances } = loaded.config;
  const appliance = appliances.find((candidate) => candidate.name === name);
  if (appliance === undefined) {
    const known = appliances.map((candidate) => candidate.name).join(", ") || "none";
    io.err(`no appliance is called ${JSON.stringify(name)}; ${configFile} has ${known}\n`);
    return 2;
  }
  const asked = await createAsk(io)(appliance, appliance.websites);
  if (output === "json") io.out(toJson(jsonReport(appliance, asked, raw)));
  else {
    io.out(resultTable(appliance, asked, io.hasColour));
    io.out(raw ? rawReport(asked, io.isTerminal) : `\n${samplesOf(appliance, asked)}`);
  }
  return asked.every(({ observation }) => observation.outcome.ok) ? 0 : 1;
}

/** What the appliance reported as samples; verdicts need all appliances of its cluster. */
function samplesOf(appliance: ApplianceConfig, asked: readonly Asked[]): string {
  const fleet = createFleet();
  fleet.configure({ appliances: [{ ...appliance, enabled: true }] }, 0);
  for (const { observation } of asked) fleet.record(observation, 0);
  const judged = createJudge().judgeAll(fleet.snapshot(0), { wallMs: 0, monotonicMs: 0 });
  const text = createFleetExposition(FACT_FAMILIES)
    .render(judged.map(({ now }) => now))
    .toString();
  return printableLines(text.replace(/^#.*\n/gm, ""));
}

function resultTable(appliance: ApplianceConfig, asked: readonly Asked[], hasColour: boolean): string {
  const rows = asked.map(({ observation }) => [
    operationKey(observation),
    outcomeCell(observation),
    `${(observation.durationSeconds ?? 0).toFixed(3)} s`,
    describeOutcome(observation, appliance),
  ]);
  return formatTable(["operation", "result", "duration", "detail"], rows, hasColour);
}

/** The answers as they came; what would steer a terminal is spelled out on one, and stays as it is in a file or a pipe. */
function rawReport(asked: readonly Asked[], isTerminal: boolean): string {
  const text = asked
    .map(
      ({ observation, body }) =>
        `\n${operationKey(observation)}:\n${body ?? "(no answer with status 200)"}\n`,
    )
    .join("");
  return isTerminal ? spelledOut(text) : text;
}

function jsonReport(
  appliance: ApplianceConfig,
  asked: readonly Asked[],
  raw: boolean,
): Record<string, unknown> {
  const operations = asked.map(({ observation, body }) => {
    const { outcome, durationSeconds } = observation;
    const said = outcome.ok ? { value: valueOf(observation, appliance) } : { failure: outcome.failure };
    const operation = operationKey(observation);
    return { operation, ok: outcome.ok, durationSeconds, ...said, ...(raw ? { body } : {}) };
  });
  const certificate = asked.at(-1)?.observation.certificate;
  return { appliance: appliance.name, cluster: appliance.cluster, certificate, operations };
}

function valueOf(observation: Observation, appliance: ApplianceConfig): unknown {
  if (!observation.outcome.ok) return undefined;
  return observation.kind === "website_test"
    ? websiteStatuses(observation.websiteId, observation.outcome.value, appliance)
    : observation.outcome.value;
}
