import type { ApplianceConfig } from "../config/config.ts";
import { limitErrors } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { findSharedAddresses } from "../config/shared-addresses.ts";
import { operationKey, type Observation } from "../polling/observation.ts";
import { adviceOn, adviceText } from "./advice.ts";
import { forAll } from "./all-appliances.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { createPollOnce } from "./poll-once.ts";
import {
  describeOutcome,
  formatEnd,
  hasSucceeded,
  outcomeCell,
  printErrors,
  toJson,
  untestedProtocols,
  websiteStatuses,
} from "./report.ts";
import { formatTable } from "./table.ts";
import { addressWarnings, certificateWarnings, knownCertificatesWarnings, withAddress } from "./warnings.ts";

/** The results of an appliance, the VRRP list first. */
interface LiveResult {
  readonly appliance: ApplianceConfig;
  readonly observations: readonly Observation[];
}

/**
 * Checks the configuration and warns about addresses and certificates; with `live`, polls the VRRP list of every enabled
 * appliance, discovers its websites and tests them.
 */
export async function check(
  { "config.file": file, live: isLive = false, output: format }: Flags,
  io: Io,
): Promise<ExitCode> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) {
    if (format !== "json") return printErrors(loaded.errors, io);
    io.out(toJson({ ok: false, errors: limitErrors(loaded.errors) }));
    return 1;
  }
  const { config } = loaded;
  const enabled = config.appliances.filter((appliance) => appliance.enabled);
  const disabled = config.appliances.length - enabled.length;
  const results = isLive ? await checkLive(enabled, io) : [];
  const isSuccess = results.every(({ appliance, observations }) =>
    observations.every((each) => isGood(each, appliance)),
  );
  const addresses = isLive ? await forAll(enabled, io, withAddress) : enabled;
  const warnings = [
    ...addressWarnings(addresses),
    ...knownCertificatesWarnings(enabled),
    ...certificateWarnings(results.flatMap(presentedBy), io.clock.wallMs()),
  ];
  if (format === "json") {
    const sharedAddresses = findSharedAddresses(addresses);
    const appliances = isLive ? results.map(jsonResult) : undefined;
    io.out(
      toJson({ ok: isSuccess, enabled: enabled.length, disabled, sharedAddresses, warnings, appliances }),
    );
    return isSuccess ? 0 : 1;
  }
  io.err(warnings.map((warning) => `${file}: warning: ${warning}\n`).join(""));
  io.out(`${file}: valid, appliances: ${enabled.length} enabled, ${disabled} disabled\n`);
  if (isLive)
    io.out(`\n${liveTable(results, io.hasColor)}\n${certificateTable(results)}${adviceText(results)}`);
  return isSuccess ? 0 : 1;
}

function checkLive(appliances: readonly ApplianceConfig[], io: Io): Promise<readonly LiveResult[]> {
  const pollOnce = createPollOnce(io);
  return forAll(appliances, io, async (appliance) => {
    const results = await pollOnce(appliance);
    return { appliance, observations: results.map(({ observation }) => observation) };
  });
}

function isGood(observation: Observation, appliance: ApplianceConfig): boolean {
  return hasSucceeded(observation) && untestedProtocols(observation, appliance).length === 0;
}

function presentedBy({ appliance, observations }: LiveResult) {
  const certificate = observations.at(-1)?.certificate;
  return certificate === undefined ? [] : [{ appliance, certificate }];
}

function liveTable(results: readonly LiveResult[], hasColor: boolean): string {
  const rows = results.flatMap((result) => {
    const { appliance, observations } = result;
    return observations
      .filter(isSent)
      .map((observation) => [
        appliance.name,
        appliance.cluster,
        polled(observation, result),
        outcomeCell(observation, appliance),
        describeOutcome(observation, appliance),
      ]);
  });
  return formatTable(["appliance", "cluster", "polled", "result", "detail"], rows, hasColor);
}

/** The row of the list shows already that the appliance is down. */
function isSent({ outcome }: Observation): boolean {
  return outcome.ok || outcome.failure.reason !== "appliance_down";
}

function polled(observation: Observation, result: LiveResult): string {
  if (observation.kind === "vrrp") return "vrrp list";
  if (observation.kind !== "website_test") return operationKey(observation).replaceAll(/[_/]/g, " ");
  const { websiteId } = observation;
  const name = websiteName(websiteId, result);
  return name === String(websiteId) ? `website ${websiteId}` : `website ${websiteId} (${name})`;
}

/** The configured name, else the one that the appliance gives, else the id. */
function websiteName(id: number, { appliance, observations }: LiveResult): string {
  const { name = String(id) } = appliance.websites.find((website) => website.id === id) ?? {};
  const [given] = observations.flatMap((each) =>
    each.kind === "website_details" && each.websiteId === id && each.outcome.ok
      ? each.outcome.value.name
      : [],
  );
  return name === String(id) ? given || name : name;
}

function certificateTable(results: readonly LiveResult[]): string {
  const rows = results
    .flatMap(presentedBy)
    .map(({ appliance, certificate }) => [
      appliance.name,
      formatEnd(certificate),
      certificate.sha256,
      certificate.issuer,
    ]);
  return formatTable(["appliance", "certificate ends", "sha256", "issuer"], rows);
}

function jsonResult(result: LiveResult): Record<string, unknown> {
  const { appliance, observations } = result;
  const [list, ...others] = observations;
  const tests = others.flatMap((each) => (each.kind === "website_test" ? [each] : []));
  const websites = tests.map((test) => {
    const name = websiteName(test.websiteId, result);
    return { id: test.websiteId, name, ...jsonObservation(test, appliance) };
  });
  const discovered = others
    .filter(({ kind }) => kind !== "website_test")
    .map((each) => ({
      operation: operationKey(each),
      ...jsonObservation(each, appliance),
      value: each.outcome.ok ? each.outcome.value : undefined,
    }));
  const discovery = discovered.length === 0 ? {} : { discovery: discovered };
  const certificate = presentedBy(result)[0]?.certificate;
  const { name, cluster } = appliance;
  const own = list && jsonObservation(list, appliance);
  return { appliance: name, cluster, ...own, certificate, websites, ...discovery, advice: adviceOn(result) };
}

function jsonObservation(observation: Observation, appliance: ApplianceConfig): Record<string, unknown> {
  const { outcome, durationSeconds } = observation;
  const failure = outcome.ok ? undefined : outcome.failure;
  const statuses =
    observation.kind === "website_test" && observation.outcome.ok
      ? websiteStatuses(observation.websiteId, observation.outcome.value, appliance)
      : undefined;
  return { ok: isGood(observation, appliance), failure, durationSeconds, statuses };
}
