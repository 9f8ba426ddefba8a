import pLimit from "p-limit";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { formatConfigError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import {
  describeSharedAddresses,
  findSharedAddresses,
  type SharedAddress,
} from "../config/shared-addresses.ts";
import type { Observation } from "../polling/observation.ts";
import { createAsk, type Ask } from "./asking.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeOutcome, formatDate, outcomeCell, toJson } from "./report.ts";
import { formatTable } from "./table.ts";

/** Appliances asked at once by `--live`. */
const MAX_ASKED_AT_ONCE = 32;

export interface CheckOptions {
  readonly configFile: string;
  readonly live: boolean;
  readonly output: "table" | "json";
}

/** One appliance's answer to `--live`. */
interface LiveResult {
  readonly appliance: ApplianceConfig;
  readonly observation: Observation;
}

/** Reads the configuration, warns of addresses that several appliances have and, with `live`, asks every enabled appliance for its VRRP list once. */
export async function check({ configFile, live, output }: CheckOptions, io: Io): Promise<ExitCode> {
  const loaded = await loadConfig(configFile);
  if (!loaded.ok) {
    if (output === "json") io.out(toJson({ ok: false, errors: loaded.errors }));
    else io.err(loaded.errors.map((error) => `${formatConfigError(error)}\n`).join(""));
    return 1;
  }
  const results = live ? await askAll(loaded.config, createAsk(io)) : undefined;
  const isGood = results?.every(({ observation }) => observation.outcome.ok) ?? true;
  const summary = summarise(loaded.config);
  const shared = findSharedAddresses(loaded.config.appliances);
  if (output === "json") {
    const appliances = results?.map(jsonResult);
    io.out(toJson({ ok: isGood, ...summary, sharedAddresses: shared, appliances }));
  } else {
    if (shared.length > 0) io.err(warnOfSharedAddresses(configFile, shared));
    io.out(`${configFile}: good, appliances: ${summary.enabled} enabled, ${summary.disabled} disabled\n`);
    if (results !== undefined) io.out(`\n${liveTable(results, io.hasColour)}\n${certificateTable(results)}`);
  }
  return isGood ? 0 : 1;
}

function warnOfSharedAddresses(configFile: string, shared: readonly SharedAddress[]): string {
  const what = shared.length === 1 ? "one address" : `${shared.length} addresses`;
  return `${configFile}: warning: several appliances have ${what}: ${describeSharedAddresses(shared)}\n`;
}

async function askAll(config: Config, ask: Ask): Promise<readonly LiveResult[]> {
  const limit = pLimit(MAX_ASKED_AT_ONCE);
  const enabled = config.appliances.filter((appliance) => appliance.enabled);
  const asked = await Promise.all(
    enabled.map((appliance) =>
      limit(async () => (await ask(appliance, [])).map(({ observation }) => ({ appliance, observation }))),
    ),
  );
  return asked.flat();
}

function summarise({ appliances }: Config): { readonly enabled: number; readonly disabled: number } {
  const enabled = appliances.filter((appliance) => appliance.enabled).length;
  return { enabled, disabled: appliances.length - enabled };
}

function liveTable(results: readonly LiveResult[], hasColour: boolean): string {
  const rows = results.map(({ appliance, observation }) => [
    appliance.name,
    appliance.cluster,
    outcomeCell(observation),
    describeOutcome(observation, appliance),
  ]);
  return formatTable(["appliance", "cluster", "vrrp list", "detail"], rows, hasColour);
}

function certificateTable(results: readonly LiveResult[]): string {
  const rows = results.flatMap(({ appliance: { name }, observation: { certificate } }) => {
    if (certificate === undefined) return [];
    const { notAfterSeconds, issuer, sha256 } = certificate;
    return [[name, notAfterSeconds === undefined ? "?" : formatDate(notAfterSeconds * 1000), sha256, issuer]];
  });
  return formatTable(["appliance", "certificate ends", "sha256, for certificate_sha256", "issuer"], rows);
}

function jsonResult({ appliance, observation }: LiveResult): Record<string, unknown> {
  const { outcome, durationSeconds, certificate } = observation;
  const { name, cluster } = appliance;
  const failure = outcome.ok ? undefined : outcome.failure;
  return { appliance: name, cluster, ok: outcome.ok, failure, durationSeconds, certificate };
}
