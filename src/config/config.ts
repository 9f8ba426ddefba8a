import type { TimingName } from "../api/operation.ts";
import type { Secret } from "../support/secret.ts";

/** The resolved configuration: defaults and inheritance applied, paths absolute. */
export interface Config {
  /** The appliances of all files in order, including disabled ones. */
  readonly appliances: readonly ApplianceConfig[];
  /** Simultaneous website tests of the fleet. */
  readonly maxConcurrentWebsiteTests: number;
  readonly websiteTargets: WebsiteTargetsConfig;
  /** Planned work that recurs. */
  readonly maintenance: readonly MaintenanceConfig[];
}

export interface MaintenanceConfig {
  readonly name: string;
  readonly comment: string;
  readonly scope: MaintenanceScope;
  /** A node-cron expression of six fields: when the work begins, by the clocks of the time zone. */
  readonly schedule: string;
  /** A name of the IANA database. */
  readonly timezone: string;
  readonly durationMs: number;
}

/** Names what is worked on: everything that any of the three names; of labels, what has all of them. */
export interface MaintenanceScope {
  readonly appliances: readonly string[];
  readonly clusters: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The policy that decides which websites may be targets for blackbox_exporter. */
export interface WebsiteTargetsConfig {
  /** Ports 80 and 443 are allowed without being listed. */
  readonly ports: readonly number[];
  /** Whether private names and addresses are allowed. */
  readonly private: boolean;
}

export interface ApplianceConfig {
  /** Unique over all files; the `appliance` label. */
  readonly name: string;
  /** The `ha_cluster` label; the appliance's own name if it is not in a cluster. */
  readonly cluster: string;
  readonly enabled: boolean;
  /** Scheme, host, port and path prefix, without a trailing slash: `https://192.0.2.11:4849/mgmt`. */
  readonly baseUrl: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly websites: readonly WebsiteConfig[];
  /** `undefined`: websites are not discovered. */
  readonly discovery: DiscoveryConfig | undefined;
  readonly polling: PollingConfig;
  readonly http: HttpClientConfig;
}

export interface DiscoveryConfig {
  /** Ids of websites that are left out. */
  readonly exclude: readonly number[];
  /** The others are tested up to this number, lowest ids first. */
  readonly limit: number;
}

export interface WebsiteConfig {
  /** A non-negative safe integer, unique within its appliance. */
  readonly id: number;
  /** The `website` label: the configured name, else the id. */
  readonly name: string;
  /** The protocols to export; `undefined`: those in the response. */
  readonly protocols: readonly ("http" | "https")[] | undefined;
  readonly expectStatus: readonly StatusRange[];
}

/** Both ends belong to the range. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** A website without `expect_status` expects these. */
export const DEFAULT_STATUSES: readonly StatusRange[] = [{ from: 200, to: 399 }];

/** Returns whether a range contains `status`. No range contains 0, which means no HTTP response. */
export function statusSetHas(ranges: readonly StatusRange[], status: number): boolean {
  return ranges.some(({ from, to }) => status >= from && status <= to);
}

export interface PollingConfig extends Readonly<Record<TimingName, OperationTiming>> {
  readonly maxConcurrentWebsiteTests: number;
}

/** When an operation is due, and how long a poll may take, from the name lookup to the last byte. */
export type OperationTiming =
  | { readonly kind: "interval"; readonly intervalMs: number; readonly timeoutMs: number }
  /** `expression`: a node-cron expression of six fields, seconds first. */
  | { readonly kind: "schedule"; readonly expression: string; readonly timeoutMs: number };

export interface HttpClientConfig {
  readonly basicAuth?: BasicAuthConfig | undefined;
  readonly tls: TlsClientConfig;
  readonly proxy?: ProxyConfig | undefined;
}

/** An HTTP proxy between the exporter and the appliance. */
export interface ProxyConfig {
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** `user:password`, decoded. */
  readonly credentials: Secret | undefined;
}

export interface BasicAuthConfig {
  readonly username: string;
  readonly password: PasswordSource;
}

export type PasswordSource =
  | { readonly kind: "inline"; readonly secret: Secret }
  /** Polls read the file again when it changes. */
  | { readonly kind: "file"; readonly path: string };

/** PEM texts, read when the configuration was loaded. */
export interface TlsClientConfig {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: Secret | undefined;
  readonly serverName?: string | undefined;
  readonly minVersion?: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3" | undefined;
  readonly insecureSkipVerify: boolean;
  /**
   * SHA-256 of the only certificates to trust, whoever signed them, as OpenSSL prints it. If the list is empty, no certificate
   * is trusted with `knownCertificates`, otherwise each that an authority signed.
   */
  readonly certificateSha256: readonly string[];
  /** The `known_certificates_file` that `certificateSha256` is from, and the name in its lines. */
  readonly knownCertificates?: { readonly path: string; readonly appliance: string } | undefined;
}
