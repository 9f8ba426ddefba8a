import { lookup } from "node:dns/promises";
import { hasExpired } from "../client/tls.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { sharedAddresses } from "../config/shared-addresses.ts";
import { urlHost } from "../support/address.ts";
import { listed, MAX_NAMED } from "../support/text.ts";
import { printErrors, type ExitCode, type Flags, type Io } from "./command.ts";
import { perAppliance, pollAll, type Polled } from "./poll-once.ts";
import { formatEnd, isSuccess, jsonResult, pollReport } from "./report.ts";
import { formatTable, toJson } from "./format.ts";

/** Checks the configuration and warns about addresses and certificates; with `live`, polls every enabled appliance once. */
export async function check({ "config.file": file, live, output }: Flags, io: Io): Promise<ExitCode> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) return printErrors(loaded.errors, io, output);
  const { appliances } = loaded.config;
  const enabled = appliances.filter((appliance) => appliance.enabled);
  const disabled = appliances.length - enabled.length;
  const polled = live === true ? await pollAll(enabled, io) : [];
  const ok = polled.every(isSuccess);
  const addresses = live === true ? await perAppliance(enabled, io, withAddress) : enabled;
  const warnings = [
    ...warningOf("appliances share addresses", sharedAddresses(addresses)),
    ...warningOf("pinned certificates have expired, which polls ignore", expired(polled, io.clock.wallMs())),
  ];
  if (output === "json") {
    const results = polled.map((each) => jsonResult(each));
    io.out(toJson({ ok, enabled: enabled.length, disabled, warnings, appliances: results }));
    return ok ? 0 : 1;
  }
  io.err(warnings.map((warning) => `${file}: warning: ${warning}\n`).join(""));
  io.out(`${file}: valid, appliances: ${enabled.length} enabled, ${disabled} disabled\n`);
  if (polled.length > 0) io.out(`\n${certificateTable(polled)}${pollReport(polled, io.hasColor)}`);
  return ok ? 0 : 1;
}

function certificateTable(polled: readonly Polled[]): string {
  const rows = polled.flatMap(({ appliance: { name }, certificate }) =>
    certificate === undefined ? [] : [[name, formatEnd(certificate), certificate.sha256, certificate.issuer]],
  );
  const header = ["appliance", "certificate ends", "sha256", "issuer"];
  return rows.length === 0 ? "" : `${formatTable(header, rows)}\n`;
}

/** The appliance with an address in place of the host name in `base_url`; behind a proxy, or if unknown, as it is. */
async function withAddress(appliance: ApplianceConfig): Promise<ApplianceConfig> {
  const url = new URL(appliance.baseUrl);
  if (appliance.http.proxy !== undefined || url.hostname.startsWith("[")) return appliance;
  const found = await lookup(url.hostname, { all: true }).catch(() => []);
  const [first = url.hostname] = found.map(({ address }) => address).toSorted();
  url.hostname = urlHost(first);
  return { ...appliance, baseUrl: url.href.replace(/\/$/, "") };
}

/** Expired certificates that are trusted nevertheless. */
function expired(polled: readonly Polled[], nowMs: number): readonly string[] {
  return polled.flatMap(({ appliance: { name, http }, certificate }) => {
    if (certificate === undefined || !hasExpired(certificate, nowMs)) return [];
    const isTrusted = http.tls.certificateSha256.includes(certificate.sha256);
    return isTrusted ? `${name} (${formatEnd(certificate)})` : [];
  });
}

function warningOf(what: string, found: readonly string[]): readonly string[] {
  return found.length === 0 ? [] : [`${what}: ${listed(found, MAX_NAMED)}`];
}
