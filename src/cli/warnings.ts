import { lookup } from "node:dns/promises";
import { hasExpired, type PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { describeSharedAddresses, findSharedAddresses, listFew } from "../config/shared-addresses.ts";
import { groupBy } from "../support/group-by.ts";
import { formatEnd } from "./report.ts";

/** Addresses that several appliances share. */
export function addressWarnings(appliances: readonly ApplianceConfig[]): readonly string[] {
  const shared = findSharedAddresses(appliances);
  if (shared.length === 0) return [];
  const what = shared.length === 1 ? "one address" : `${shared.length} addresses`;
  return [`several appliances have ${what}: ${describeSharedAddresses(shared)}`];
}

/** The appliance with an address in place of the host name in `base_url`; behind a proxy, or if unknown, as it is. */
export async function withAddress(appliance: ApplianceConfig): Promise<ApplianceConfig> {
  const url = new URL(appliance.baseUrl);
  if (appliance.http.proxy !== undefined || url.hostname.startsWith("[")) return appliance;
  try {
    const found = await lookup(url.hostname, { all: true });
    const [first = url.hostname] = found.map(({ address }) => address).toSorted();
    url.hostname = first.includes(":") ? `[${first}]` : first;
    return { ...appliance, baseUrl: `${url.origin}${url.pathname.replace(/\/$/, "")}` };
  } catch {
    return appliance;
  }
}

/** Appliances without a line in their known_certificates_file. */
export function knownCertificatesWarnings(appliances: readonly ApplianceConfig[]): readonly string[] {
  const missing = appliances.filter(
    ({ baseUrl, http: { tls } }) =>
      baseUrl.startsWith("https:") &&
      tls.knownCertificates !== undefined &&
      tls.certificateSha256.length === 0,
  );
  const byPath = groupBy(missing, ({ http: { tls } }) => tls.knownCertificates?.path);
  return Array.from(byPath, ([path, ofFile]) => {
    return `${path} lacks ${listFew(ofFile.map(({ name }) => name))}: run appliance-exporter trust`;
  });
}

/** An appliance and the certificate that it presented. */
interface Presented {
  readonly appliance: ApplianceConfig;
  readonly certificate: PresentedCertificate;
}

/** Expired certificates that are trusted nevertheless. */
export function certificateWarnings(presented: readonly Presented[], nowMs: number): readonly string[] {
  const expired = presented.filter(
    ({ appliance, certificate }) =>
      appliance.http.tls.certificateSha256.includes(certificate.sha256) && hasExpired(certificate, nowMs),
  );
  if (expired.length === 0) return [];
  const names = expired.map(({ appliance, certificate }) => `${appliance.name} (${formatEnd(certificate)})`);
  return [`certificates have expired, which polls ignore as they are pinned: ${listFew(names)}`];
}
