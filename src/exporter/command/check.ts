import { lookup } from "node:dns/promises";
import type { VrrpList } from "../api/vrrp.ts";
import { hasExpired, type PresentedCertificate } from "../client/tls.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { sharedAddresses } from "../config/shared-addresses.ts";
import { UNEXPANDED, unexpandedPasswords } from "../config/unexpanded.ts";
import { judgeCertificate } from "../judge/judge-appliance.ts";
import { bareHost, plainAddress, urlHost } from "../../support/address.ts";
import { groupBy } from "../../support/group-by.ts";
import { listed, listedBriefly } from "../../support/text.ts";
import { loadWebConfig } from "../web/web-config.ts";
import { fail, ignoredProxy, loadNamed, printErrors, type ExitCode, type Flags, type Io } from "./command.ts";
import { perAppliance, pollAll } from "./poll-once.ts";
import {
  formatEnd,
  jsonResult,
  pollReport,
  type OperationResult,
  type PolledAppliance,
} from "./poll-report.ts";
import { formatTable, toJson } from "./format.ts";
import { restingSchedules } from "./schedules.ts";

/**
 * Checks the configuration and the web configuration, and warns about addresses, clusters and certificates. With `live`, polls every
 * enabled appliance once, or the enabled ones that `names` selects, and warns about the journal by `storageProblem`. A website whose status
 * is not expected is a failure.
 */
export async function check(
  flags: Flags,
  io: Io,
  names: readonly string[],
  storageProblem: () => Promise<string | undefined>,
): Promise<ExitCode> {
  const { "config.file": file, live: isLive = false, failed: isFailedOnly = false, output } = flags;
  const { certificates: hasCertificates = false } = flags;
  if (!isLive && (isFailedOnly || hasCertificates || names.length > 0))
    return fail(io, "error: names, --failed and --certificates need --live", 2);
  const loaded = await loadNamed(flags, io, names);
  if (typeof loaded === "number") return loaded;
  const web = await loadWebConfig(flags["web.config.file"], flags);
  if (!web.ok) return printErrors(web.errors, io, output);
  const { appliances } = loaded;
  const enabled = appliances.filter((appliance) => appliance.enabled);
  const disabled = appliances.length - enabled.length;
  const wanted = loaded.named.filter(({ name, enabled: isEnabled }) => isEnabled || names.includes(name));
  const polled = isLive ? await pollAll(wanted, io, { mustBeUp: true }) : [];
  const failed = polled.filter((each) => !each.ok);
  const wallMs = io.clock.wallMs();
  const ok = failed.length === 0;
  const addresses = isLive ? await perAppliance(enabled, io, withAddress) : enabled;
  // The service checks before each start and reload, and a folder that hangs must not prevent these.
  const storage = isLive ? await storageProblem() : undefined;
  const warnings = [
    ...warningOf("appliances share addresses", sharedAddresses(addresses)),
    ...warningOf(
      "the host of base_url is a VIP or alias that an appliance reports; use the appliance's own address",
      ledToVips(polled),
    ),
    ...warningOf(
      "members of a cluster have equal certificates and answers, so they may be one appliance",
      alikeMembers(polled),
    ),
    ...warningOf(UNEXPANDED, unexpandedPasswords(appliances)),
    ...(enabled.every(({ http }) => http.proxy !== undefined) ? [] : ignoredProxy(io)),
    ...warningOf("clusters have one member, so no redundancy", clustersOfOne(appliances)),
    ...warningOf(
      "clusters have members of several kinds, of which only the VRRP groups are compared",
      clustersOfKinds(appliances),
    ),
    ...restingSchedules(enabled, wallMs).map((each) => `a schedule rests: ${each}`),
    ...warningOf("no journal can be written", storage === undefined ? [] : [storage]),
    ...warningOf("pinned certificates have expired, which polls ignore", expired(polled, wallMs)),
    ...warningOf("certificates expire within 14 days", expiring(polled, wallMs)),
  ];
  const shown = isFailedOnly ? failed : polled;
  if (output === "json") {
    const all = [...web.warnings, ...warnings];
    const results = shown.map((each) => jsonResult(each));
    io.out(toJson({ ok, enabled: enabled.length, disabled, warnings: all, appliances: results }));
    return ok ? 0 : 1;
  }
  const lines = [
    ...web.warnings.map((warning) => `${flags["web.config.file"]}: warning: ${warning}\n`),
    ...warnings.map((warning) => `${file}: warning: ${warning}\n`),
  ];
  io.err(lines.join(""));
  io.out(`${file}: valid, appliances: ${enabled.length} enabled, ${disabled} disabled\n`);
  const shownCertificates = hasCertificates ? shown : shown.filter(isCertificateWrong(wallMs));
  if (shown.length > 0)
    io.out(`\n${pollReport(shown, io.hasColor, isFailedOnly)}${certificateTable(shownCertificates)}`);
  const which = ok ? "" : ` (${listedBriefly(failed.map(({ appliance }) => appliance.name))})`;
  if (isLive) io.out(`\nappliances polled: ${polled.length}, failed: ${failed.length}${which}\n`);
  return ok ? 0 : 1;
}

/** Returns the clusters that have one appliance, without the appliances that stand alone: their cluster has the name of the appliance. */
function clustersOfOne(appliances: readonly ApplianceConfig[]): readonly string[] {
  const clusters = [...groupBy(appliances, ({ cluster }) => cluster)];
  return clusters.flatMap(([name, members]) => (members.length > 1 || members[0]?.name === name ? [] : name));
}

/** Returns the clusters whose members have different APIs: `ams (management_api and opnsense)`. */
function clustersOfKinds(appliances: readonly ApplianceConfig[]): readonly string[] {
  const clusters = [...groupBy(appliances, ({ cluster }) => cluster)];
  return clusters.flatMap(([name, members]) => {
    const kinds = [...new Set(members.map(({ kind }) => kind))];
    return kinds.length > 1 ? `${name} (${listed(kinds)})` : [];
  });
}

function certificateTable(polled: readonly PolledAppliance[]): string {
  const rows = polled.flatMap(({ appliance: { name }, certificate }) =>
    certificate === undefined
      ? []
      : [[name, formatChainEnd(certificate), certificate.sha256, certificate.issuer]],
  );
  const header = ["appliance", "certificate ends", "sha256", "issuer"];
  return rows.length === 0 ? "" : `\n${formatTable(header, rows)}`;
}

/** Returns whether the certificate of an appliance is not trusted, or ends soon or has ended. */
function isCertificateWrong(nowMs: number): (polled: PolledAppliance) => boolean {
  return ({ certificate, results: [first] }) =>
    first?.result === "tls" ||
    (certificate !== undefined && judgeCertificate(certificate, nowMs) !== "valid");
}

/**
 * Returns the appliance with an address in place of the host name in `base_url`. It stays unchanged behind a proxy, or if the address is
 * unknown.
 */
async function withAddress(appliance: ApplianceConfig): Promise<ApplianceConfig> {
  const url = new URL(appliance.baseUrl);
  if (appliance.http.proxy !== undefined || url.hostname.startsWith("[")) return appliance;
  const found = await lookup(url.hostname, { all: true }).catch(() => []);
  const [first = url.hostname] = found.map(({ address }) => address).toSorted();
  url.hostname = urlHost(first);
  return { ...appliance, baseUrl: url.href.replace(/\/$/, "") };
}

/** Returns the appliances that a poll reached at a VIP or alias of an appliance: `b (192.0.2.100 of a)`. */
function ledToVips(polled: readonly PolledAppliance[]): readonly string[] {
  const reported = polled.flatMap(({ appliance: { name }, results: [first] }) => {
    const addresses = listIn(first)?.interfaces.flatMap(({ vip, aliases = [] }) => [vip, ...aliases]) ?? [];
    return addresses.map((address) => ({ name, address: plainAddress(address) }));
  });
  const byAddress = groupBy(reported, ({ address }) => address);
  return polled.flatMap(({ appliance: { name, baseUrl }, results: [first] }) => {
    const host = bareHost(new URL(baseUrl).hostname);
    const address = first?.answer?.peerAddress ?? plainAddress(host);
    // A list that came from a VIP in it is a failure of its poll.
    const own = first?.result === "vip" ? [{ name, address }] : [];
    const names = new Set((byAddress.get(address) ?? own).map((each) => each.name));
    return names.size === 0 ? [] : `${name} (${address} of ${listedBriefly([...names])})`;
  });
}

/** Returns the members of a cluster that say the same and have the same certificate: `ams (a and b)`. */
function alikeMembers(polled: readonly PolledAppliance[]): readonly string[] {
  const answers = polled.flatMap(({ appliance: { name, cluster }, certificate, results: [first] }) => {
    const { interfaces = [] } = listIn(first) ?? {};
    if (certificate === undefined || interfaces.length === 0) return [];
    return { name, cluster, text: JSON.stringify([cluster, certificate.sha256, interfaces]) };
  });
  return [...groupBy(answers, ({ text }) => text).values()].flatMap((alike) => {
    return alike.length > 1 ? `${alike[0]?.cluster} (${listedBriefly(alike.map(({ name }) => name))})` : [];
  });
}

/** Returns the VRRP list of a poll; `undefined` if it failed. */
function listIn(result: OperationResult | undefined): VrrpList | undefined {
  const { observation } = result ?? {};
  return observation?.kind === "vrrp" && observation.outcome.ok ? observation.outcome.value : undefined;
}

/** Returns the appliances whose certificate has expired and is trusted nevertheless. */
function expired(polled: readonly PolledAppliance[], nowMs: number): readonly string[] {
  return polled.flatMap(({ appliance: { name, http }, certificate }) => {
    if (certificate === undefined || !hasExpired(certificate, nowMs)) return [];
    const isTrusted = http.tls.certificateSha256.includes(certificate.sha256);
    return isTrusted ? `${name} (${formatEnd(certificate)})` : [];
  });
}

/** Returns the appliances whose certificate, or a signer of it, expires soon: `a (2026-12-01T00:00:00Z, the intermediate CN=ours)`. */
function expiring(polled: readonly PolledAppliance[], nowMs: number): readonly string[] {
  return polled.flatMap(({ appliance: { name }, certificate }) => {
    if (certificate === undefined || judgeCertificate(certificate, nowMs) !== "expires_soon") return [];
    return `${name} (${formatChainEnd(certificate)})`;
  });
}

/** Returns the first end in the chain of a certificate, and whose it is, if it is not its own. */
function formatChainEnd(certificate: PresentedCertificate): string {
  const { endingSigner: signer } = certificate;
  return signer === undefined
    ? formatEnd(certificate)
    : `${formatEnd(signer)}, the ${signer.role} ${signer.subject}`;
}

function warningOf(what: string, found: readonly string[]): readonly string[] {
  return found.length === 0 ? [] : [`${what}: ${listedBriefly(found)}`];
}
