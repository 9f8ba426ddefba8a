import type { VrrpInterface, VrrpList } from "../../src/exporter/api/vrrp.ts";
import type { ApplianceConfig, Config, WebsiteConfig } from "../../src/exporter/config/config.ts";
import { NO_SETTINGS } from "../../src/exporter/config/http-client.ts";
import type { Failure, FailureReason } from "../../src/exporter/api/failure.ts";
import type { Observation } from "../../src/exporter/polling/observation.ts";
import type { Rest } from "../../src/exporter/polling/instants.ts";
import { gathered, type WebsiteDetails } from "../../src/exporter/api/website-details.ts";
import type { WebsiteBlock } from "../../src/exporter/api/website-test.ts";
import type { PresentedCertificate } from "../../src/exporter/client/tls.ts";

/** 2023-11-14T22:13:20Z, the wall clock of canned observations. */
export const WALL_MS = 1_700_000_000_000;
/** The monotonic instant from which canned observations count as stalled: two intervals of 5 s and a timeout of 4 s. */
export const EXPIRES_AT_MS = 14_000;

/** An appliance that stands alone, is polled as by default and needs no credentials. */
export function applianceOf(given: Partial<ApplianceConfig> & { readonly name: string }): ApplianceConfig {
  return {
    cluster: given.name,
    isAlone: true,
    enabled: true,
    kind: "management_api",
    baseUrl: `https://${given.name}.example:4849`,
    labels: {},
    websites: [],
    discovery: undefined,
    polling: {
      vrrp: { kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 },
      websites: { kind: "interval", intervalMs: 30_000, timeoutMs: 20_000 },
      discovery: { kind: "interval", intervalMs: 300_000, timeoutMs: 20_000 },
      maxConcurrentWebsiteTests: 4,
    },
    http: NO_SETTINGS,
    ...given,
  };
}

/** Only public hosts, at ports 80 and 443. */
export const PUBLIC_TARGETS = { ports: [], private: false };

export function configOf(...appliances: readonly ApplianceConfig[]): Config {
  return { appliances, maxConcurrentWebsiteTests: 64, websiteTargets: PUBLIC_TARGETS, maintenance: [] };
}

/** A website whose protocols are those found in the answer. */
export function websiteOf(given: Partial<WebsiteConfig> & { readonly id: number }): WebsiteConfig {
  return {
    name: String(given.id),
    protocols: undefined,
    expectStatus: [{ from: 200, to: 399 }],
    ...given,
  };
}

/** `carp0` of the specification's example. */
export function interfaceOf(given: Partial<VrrpInterface> = {}): VrrpInterface {
  return {
    name: "carp0",
    state: "MASTER",
    vhid: 2,
    vip: "192.0.2.100",
    priority: 204,
    advskew: 50,
    aliases: [],
    device: "eth1",
    netmask: "255.255.255.0",
    peer: "224.0.0.18",
    configuredRole: "master",
    ...given,
  };
}

export type ListExtras = Partial<Omit<VrrpList, "interfaces">>;

export function listOf(interfaces: readonly VrrpInterface[], extras: ListExtras = {}): VrrpList {
  return { interfaces, unreadable: [], anomalies: [], ...extras };
}

/** When and how a canned poll ended. */
export interface Circumstances {
  readonly completedAtMs?: number;
  readonly isOutOfTurn?: boolean;
  /** Monotonic; default: the instant at which the fleet records it. */
  readonly sentAtMs?: number;
  readonly sinceMs?: number | undefined;
  readonly durationSeconds?: number;
  readonly expiresAtMs?: number;
  readonly rest?: Rest | undefined;
  readonly certificate?: PresentedCertificate;
}

function circumstances(given: Circumstances) {
  return {
    completedAtMs: WALL_MS,
    isOutOfTurn: false,
    sentAtMs: undefined,
    sinceMs: undefined,
    durationSeconds: 0.25,
    expiresAtMs: EXPIRES_AT_MS,
    certificate: undefined,
    ...given,
  };
}

/** Observations of polls that succeeded. */
export const seen = {
  vrrp(appliance: string, list: VrrpList, given: Circumstances = {}): Observation {
    return { kind: "vrrp", appliance, outcome: { ok: true, value: list }, ...circumstances(given) };
  },
  website(
    appliance: string,
    websiteId: number,
    blocks: readonly WebsiteBlock[],
    given: Circumstances = {},
  ): Observation {
    const outcome = { ok: true, value: { blocks } } as const;
    return { kind: "website_test", appliance, websiteId, outcome, ...circumstances(given) };
  },
  websites(
    appliance: string,
    ids: readonly number[],
    { invalid = [], ...given }: Circumstances & { readonly invalid?: readonly string[] } = {},
  ): Observation {
    return {
      kind: "website_list",
      appliance,
      outcome: { ok: true, value: { ids, invalid } },
      ...circumstances(given),
    };
  },
  details(
    appliance: string,
    websiteId: number,
    details: Partial<WebsiteDetails> = {},
    given: Circumstances = {},
  ): Observation {
    const outcome = { ok: true, value: { ...SHOP_DETAILS, ...details } } as const;
    return { kind: "website_details", appliance, websiteId, outcome, ...circumstances(given) };
  },
};

/** Observations of polls that failed. */
export const failed = {
  vrrp(appliance: string, reason: FailureReason, given: Circumstances = {}): Observation {
    return { kind: "vrrp", appliance, outcome: failureOutcome(reason), ...circumstances(given) };
  },
  website(
    appliance: string,
    websiteId: number,
    reason: FailureReason,
    given: Circumstances = {},
  ): Observation {
    const outcome = failureOutcome(reason);
    return { kind: "website_test", appliance, websiteId, outcome, ...circumstances(given) };
  },
  websites(appliance: string, reason: FailureReason, given: Circumstances = {}): Observation {
    return { kind: "website_list", appliance, outcome: failureOutcome(reason), ...circumstances(given) };
  },
  details(
    appliance: string,
    websiteId: number,
    reason: FailureReason,
    more: Partial<Failure> = {},
  ): Observation {
    const outcome = failureOutcome(reason, more);
    return { kind: "website_details", appliance, websiteId, outcome, ...circumstances({}) };
  },
};

function failureOutcome(reason: FailureReason, more: Partial<Failure> = {}) {
  return { ok: false, failure: failureOf(reason, more) } as const;
}

export const SHOP_DETAILS: WebsiteDetails = {
  name: "shop",
  host: "shop.example",
  port: 443,
  secondPort: 80,
  protocol: "both",
  mode: "protect",
  isEnabled: true,
  bind: ["*"],
  backends: gathered([{ address: "192.0.2.81:8080", role: "active", isOk: true }]),
  invalid: [],
};

/** What a website answers by HTTP and by HTTPS. */
export function blocksOf(http: number, https: number): readonly WebsiteBlock[] {
  return [
    { protocol: "http", status: http },
    { protocol: "https", status: https },
  ];
}

export function failureOf(reason: FailureReason, more: Partial<Failure> = {}): Failure {
  return { reason, message: `canned ${reason}`, ...more };
}
