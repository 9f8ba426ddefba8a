import type { PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { limitErrors } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { findSharedAddresses } from "../config/shared-addresses.ts";
import { adviceOn, adviceText } from "./advice.ts";
import { forAll } from "./all-appliances.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { createPollOnce } from "./poll-once.ts";
import { formatEnd, isSuccess, jsonResult, printErrors, resultTable, toJson, type Polled } from "./report.ts";
import { formatTable } from "./table.ts";
import { addressWarnings, certificateWarnings, knownCertificatesWarnings, withAddress } from "./warnings.ts";

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
  const { appliances } = loaded.config;
  const enabled = appliances.filter((appliance) => appliance.enabled);
  const disabled = appliances.length - enabled.length;
  const polled = isLive ? await pollAll(enabled, io) : [];
  const ok = polled.every(isSuccess);
  const addresses = isLive ? await forAll(enabled, io, withAddress) : enabled;
  const certificates = polled.flatMap(presentedBy);
  const warnings = [
    ...addressWarnings(addresses),
    ...knownCertificatesWarnings(enabled),
    ...certificateWarnings(certificates, io.clock.wallMs()),
  ];
  if (format === "json") {
    const sharedAddresses = findSharedAddresses(addresses);
    const results = polled.map((each) => ({ ...jsonResult(each), advice: adviceOn(each) }));
    const live = isLive ? { appliances: results } : {};
    io.out(toJson({ ok, enabled: enabled.length, disabled, sharedAddresses, warnings, ...live }));
    return ok ? 0 : 1;
  }
  io.err(warnings.map((warning) => `${file}: warning: ${warning}\n`).join(""));
  io.out(`${file}: valid, appliances: ${enabled.length} enabled, ${disabled} disabled\n`);
  if (isLive) {
    const rows = certificates.map(({ appliance, certificate }) => [
      appliance.name,
      formatEnd(certificate),
      certificate.sha256,
      certificate.issuer,
    ]);
    const certificateTable = formatTable(["appliance", "certificate ends", "sha256", "issuer"], rows);
    io.out(`\n${resultTable(polled, io.hasColor)}\n${certificateTable}${adviceText(polled)}`);
  }
  return ok ? 0 : 1;
}

function pollAll(appliances: readonly ApplianceConfig[], io: Io): Promise<readonly Polled[]> {
  const pollOnce = createPollOnce(io);
  return forAll(appliances, io, async (appliance) => ({ appliance, results: await pollOnce(appliance) }));
}

interface Presented {
  readonly appliance: ApplianceConfig;
  readonly certificate: PresentedCertificate;
}

function presentedBy({ appliance, results }: Polled): readonly Presented[] {
  const certificate = results.at(-1)?.observation.certificate;
  return certificate === undefined ? [] : [{ appliance, certificate }];
}
