import type { KindName } from "../api/kinds.ts";
import type { TimingName } from "./timings.ts";
import type { Secret } from "../../support/secret.ts";

/** The resolved configuration: defaults and inheritance applied, paths absolute. */
export interface Config {
  /** The appliances of all files in order, including disabled ones. */
  readonly appliances: readonly ApplianceConfig[];
  /** The number of simultaneous website tests of the fleet. */
  readonly maxConcurrentWebsiteTests: number;
  readonly websiteTargets: WebsiteTargetsConfig;
  /** Planned work that recurs. */
  readonly maintenance: readonly MaintenanceConfig[];
}

export interface MaintenanceConfig {
  readonly name: string;
  readonly comment: string;
  readonly scope: MaintenanceScope;
  /** A node-cron expression of six fields. The work begins at these times of the time zone. */
  readonly schedule: string;
  /** A name of the IANA database. */
  readonly timezone: string;
  readonly durationMs: number;
}

/** The scope of planned work: everything that one of the three lists names. Labels name the appliances that have all of them. */
export interface MaintenanceScope {
  readonly appliances: readonly string[];
  readonly clusters: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The policy that decides which websites may be targets for blackbox_exporter. */
export interface WebsiteTargetsConfig {
  /** The allowed ports besides 80 and 443, which need not be listed. */
  readonly ports: readonly number[];
  /** Whether private names and addresses are allowed. */
  readonly private: boolean;
}

export interface ApplianceConfig {
  /** The `appliance` label, unique over all files. */
  readonly name: string;
  /** The `ha_cluster` label; the appliance's own name if it is not in a cluster. */
  readonly cluster: string;
  /** Whether its cluster has no other appliance, enabled or not. */
  readonly isAlone: boolean;
  readonly enabled: boolean;
  readonly kind: KindName;
  /** Scheme, host, port and path prefix, without a trailing slash: `https://192.0.2.11:4849/mgmt`. */
  readonly baseUrl: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly websites: readonly WebsiteConfig[];
  /** The settings of discovery; `undefined` if websites are not discovered. */
  readonly discovery: DiscoveryConfig | undefined;
  readonly polling: PollingConfig;
  readonly http: HttpClientConfig;
}

/** Whether two configurations are of one appliance, as its name does not tell: at another address, or of another kind, it is a new one. */
export function isSameAppliance(
  one: Pick<ApplianceConfig, "baseUrl" | "kind">,
  other: Pick<ApplianceConfig, "baseUrl" | "kind">,
): boolean {
  return one.baseUrl === other.baseUrl && one.kind === other.kind;
}

export interface DiscoveryConfig {
  /** The ids of websites that are left out. */
  readonly exclude: readonly number[];
  /** The most other websites that are tested, lowest ids first. */
  readonly limit: number;
}

export interface WebsiteConfig {
  /** A non-negative safe integer, unique within its appliance. */
  readonly id: number;
  /** The `website` label: the configured name, else the id. */
  readonly name: string;
  /** The protocols to export; if they are `undefined`, the protocols of the response are exported. */
  readonly protocols: readonly ("http" | "https")[] | undefined;
  readonly expectStatus: readonly StatusRange[];
}

/** Both ends belong to the range. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** A website without `expect_status` expects these statuses. */
export const DEFAULT_STATUSES: readonly StatusRange[] = [{ from: 200, to: 399 }];

/** Returns whether a range contains `status`. No range contains 0, which means no HTTP response. */
export function statusSetHas(ranges: readonly StatusRange[], status: number): boolean {
  return ranges.some(({ from, to }) => status >= from && status <= to);
}

export interface PollingConfig extends Readonly<Record<TimingName, OperationTiming>> {
  readonly maxConcurrentWebsiteTests: number;
}

/** The times at which an operation is due, and the limit of a poll's duration, from the name lookup to the last byte. */
export type OperationTiming =
  | { readonly kind: "interval"; readonly intervalMs: number; readonly timeoutMs: number }
  /** `expression` is a node-cron expression of six fields, seconds first. */
  | { readonly kind: "schedule"; readonly expression: string; readonly timeoutMs: number };

export interface HttpClientConfig {
  readonly basicAuth?: BasicAuthConfig | undefined;
  readonly tls: TlsClientConfig;
  readonly proxy?: ProxyConfig | undefined;
}

/** An HTTP proxy between the exporter and the appliance. */
export interface ProxyConfig {
  /** The host, with IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number;
  /** The credentials `user:password`, decoded. */
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

/** The TLS settings. PEM texts were read when the configuration was loaded. */
export interface TlsClientConfig {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: Secret | undefined;
  readonly serverName?: string | undefined;
  readonly minVersion?: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3" | undefined;
  /** Whether weak keys, TLS 1.0 and 1.1, and servers without secure renegotiation are allowed. An old `minVersion` implies it. */
  readonly insecureLegacyTls?: boolean | undefined;
  readonly insecureSkipVerify: boolean;
  /**
   * The SHA-256 fingerprints of the only certificates to trust, whoever signed them, in OpenSSL's format. If the list is empty, no
   * certificate is trusted with `knownCertificates`; without it, each certificate that an authority signed.
   */
  readonly certificateSha256: readonly string[];
  /**
   * The `known_certificates_file` that contains `certificateSha256`, and the name in its lines. If it is optional, no setting names it and it
   * has no line for the appliance: authorities decide.
   */
  readonly knownCertificates?:
    | { readonly path: string; readonly appliance: string; readonly isOptional?: boolean }
    | undefined;
}
