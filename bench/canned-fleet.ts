import type { ApplianceConfig } from "../src/config/config.ts";
import type { VrrpInterface } from "../src/api/vrrp-list.ts";
import type { Observation } from "../src/polling/observation.ts";

/** An appliance with the built-in defaults, nothing secret and no website. */
export function applianceAt(name: string, baseUrl: string, ca?: string): ApplianceConfig {
  const none = undefined;
  const tls = { ca, cert: none, key: none, serverName: none, minVersion: none };
  const timing = { kind: "interval", intervalMs: 5000, timeoutMs: 4000 } as const;
  return {
    name,
    cluster: name,
    enabled: true,
    baseUrl,
    labels: {},
    websites: [],
    polling: { vrrp: timing, websites: timing, maxConcurrentWebsiteTests: 1 },
    http: {
      basicAuth: none,
      tls: { ...tls, insecureSkipVerify: false, certificateSha256: [] },
      proxyUrl: none,
      fingerprint: "",
    },
  };
}

/** A successful poll of so many interfaces that never expires. */
export function vrrpObservation(appliance: string, interfaceCount: number): Observation {
  const interfaces = Array.from({ length: interfaceCount }, (_, index) => interfaceAt(index));
  return {
    kind: "vrrp",
    appliance,
    outcome: { ok: true, value: { interfaces, unreadable: [], anomalies: [] } },
    completedAtMs: 1_700_000_000_000,
    durationSeconds: 0.005,
    expiresAtMs: Number.POSITIVE_INFINITY,
    certificate: undefined,
  };
}

function interfaceAt(index: number): VrrpInterface {
  return {
    name: `carp${index}`,
    state: "MASTER",
    vhid: index,
    vip: `192.0.2.${index}`,
    priority: 204,
    advskew: 50,
    alias: [],
    device: "eth1",
    netmask: "255.255.255.0",
    peer: "224.0.0.18",
    type: "1",
  };
}
