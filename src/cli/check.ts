import pLimit from "p-limit";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { limitErrors } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import {
  describeSharedAddresses,
  findSharedAddresses,
  type SharedAddress,
} from "../config/shared-addresses.ts";
import type { Observation } from "../polling/observation.ts";
import { createPollOnce, type PollOnce } from "./poll-once.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeOutcome, formatDate, outcomeCell, printErrors, toJson } from "./report.ts";
import { formatTable } from "./table.ts";

/** Appliances that `--live` polls at the same time. */
const MAX_CONCURRENT_POLLS = 32;

interface LiveResult {
  readonly appliance: ApplianceConfig;
  readonly observation: Observation;
}

/** Checks the configuration, warns about shared addresses and, with `live`, polls the VRRP list of every enabled appliance. */
export async function check(
  { "config.file": file, live: isLive, output: format }: Flags,
  io: Io,
): Promise<ExitCode> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) {
    if (format !== "json") return printErrors(loaded.errors, io);
    io.out(toJson({ ok: false, errors: limitErrors(loaded.errors) }));
    return 1;
  }
  const { config } = loaded;
  const results = isLive ? await pollAll(config, createPollOnce(io)) : undefined;
  const isSuccess = results?.every(({ observation }) => observation.outcome.ok) ?? true;
  const enabled = config.appliances.filter((appliance) => appliance.enabled).length;
  const disabled = config.appliances.length - enabled;
  const sharedAddresses = findSharedAddresses(config.appliances);
  if (format === "json") {
    const appliances = results?.map(jsonResult);
    io.out(toJson({ ok: isSuccess, enabled, disabled, sharedAddresses, appliances }));
  } else {
    if (sharedAddresses.length > 0) io.err(describeWarning(file, sharedAddresses));
    io.out(`${file}: valid, appliances: ${enabled} enabled, ${disabled} disabled\n`);
    if (results !== undefined) io.out(`\n${liveTable(results, io.hasColor)}\n${certificateTable(results)}`);
  }
  return isSuccess ? 0 : 1;
}

function describeWarning(file: string, shared: readonly SharedAddress[]): string {
  const what = shared.length === 1 ? "one address" : `${shared.length} addresses`;
  return `${file}: warning: several appliances have ${what}: ${describeSharedAddresses(shared)}\n`;
}

async function pollAll(config: Config, pollOnce: PollOnce): Promise<readonly LiveResult[]> {
  const limit = pLimit(MAX_CONCURRENT_POLLS);
  const enabled = config.appliances.filter((appliance) => appliance.enabled);
  const results = await Promise.all(
    enabled.map((appliance) =>
      limit(async () =>
        (await pollOnce(appliance, [])).map(({ observation }) => ({ appliance, observation })),
      ),
    ),
  );
  return results.flat();
}

function liveTable(results: readonly LiveResult[], hasColor: boolean): string {
  const rows = results.map(({ appliance, observation }) => [
    appliance.name,
    appliance.cluster,
    outcomeCell(observation),
    describeOutcome(observation, appliance),
  ]);
  return formatTable(["appliance", "cluster", "vrrp list", "detail"], rows, hasColor);
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
