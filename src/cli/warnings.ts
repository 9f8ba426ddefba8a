import { lookup } from "node:dns/promises";
import { hasExpired, type PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceConfig, Config } from "../config/config.ts";
import { parseKnownCertificates } from "../config/known-certificates.ts";
import { readConfigText } from "../config/read-file.ts";
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

/** Appliances without a line in their known_certificates_file, and lines without an appliance. */
export async function knownCertificatesWarnings({ appliances }: Config): Promise<readonly string[]> {
  const names = new Set(appliances.map(({ name }) => name));
  const byPath = groupBy(appliances, ({ http: { tls } }) => tls.knownCertificates?.path);
  const warnings = await Promise.all(
    Array.from(byPath, async ([path, ofFile]) => {
      if (path === undefined) return [];
      const read = await readConfigText(path);
      const known = parseKnownCertificates(read.ok ? read.text : "");
      const missing = ofFile
        .filter(({ name, enabled, baseUrl }) => enabled && baseUrl.startsWith("https:") && !known.has(name))
        .map(({ name }) => name);
      const left = [...known.keys()].filter((name) => !names.has(name));
      return [
        ...(missing.length > 0 ? [`${path} lacks ${listFew(missing)}: run appliance-exporter trust`] : []),
        ...(left.length > 0 ? [`${path} has unknown appliances: ${listFew(left)}`] : []),
      ];
    }),
  );
  return warnings.flat();
}

/** An appliance and the certificate that it presented. */
interface Presented {
  readonly appliance: ApplianceConfig;
  readonly certificate: PresentedCertificate;
}

/** Expired certificates that are trusted nevertheless, and self-signed ones that several appliances present. */
export function certificateWarnings(presented: readonly Presented[], nowMs: number): readonly string[] {
  const expired = presented.filter(
    ({ appliance, certificate }) =>
      appliance.http.tls.certificateSha256.includes(certificate.sha256) && hasExpired(certificate, nowMs),
  );
  const names = expired.map(({ appliance, certificate }) => `${appliance.name} (${formatEnd(certificate)})`);
  const selfSigned = presented.filter(({ certificate: { subject, issuer } }) => subject === issuer);
  const shared = [...groupBy(selfSigned, ({ certificate }) => certificate.sha256).values()].filter(
    ({ length }) => length > 1,
  );
  return [
    ...(names.length > 0
      ? [`certificates have expired, which polls ignore as they are pinned: ${listFew(names)}`]
      : []),
    ...shared.map((all) => {
      const sharing = listFew(all.map(({ appliance }) => appliance.name));
      return `several appliances present one self-signed certificate and may be the same appliance: ${sharing}`;
    }),
  ];
}
