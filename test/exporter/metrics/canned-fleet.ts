import { gathered } from "../../../src/exporter/api/website-details.ts";
import { createFleet, type Fleet } from "../../../src/exporter/fleet/fleet.ts";
import { createFleetExposition, type FleetExposition } from "../../../src/exporter/metrics/exposition.ts";
import { createSelfMetrics } from "../../../src/exporter/metrics/self.ts";
import { createJudge, incidentsIn, type Judge } from "../judge/support.ts";
import { windowOf } from "../maintenance/support.ts";
import type { ClusterVerdict } from "../../../src/exporter/judge/verdict.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import {
  applianceOf,
  blocksOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { clustersOf, fleetOf } from "../fleet/support.ts";
import { BUILD } from "../../support/build-facts.ts";

/** The monotonic instant at which the canned fleet is read. */
export const READ_AT_MS = 10_000;

const SHOP = websiteOf({ id: 1, name: "shop", protocols: ["http", "https"] });
const certificate = {
  notAfterSeconds: 1_800_000_000,
  subject: "CN=waf",
  issuer: "CN=waf",
  sha256: "ab".repeat(32),
  endingSigner: { role: "intermediate", subject: "CN=ours", notAfterSeconds: 1_790_000_000 },
} as const;

const APPLIANCES: readonly ApplianceConfig[] = [
  applianceOf({ name: "waf-1", cluster: "ams", labels: { site: "ams", rack: "r1" }, websites: [SHOP] }),
  applianceOf({ name: "waf-2", cluster: "ams", labels: { site: "ams", rack: "r2" }, websites: [SHOP] }),
  applianceOf({ name: "failed", cluster: "fra" }),
  applianceOf({ name: "locked", websites: [websiteOf({ id: 3 })] }),
  applianceOf({ name: "odd" }),
  applianceOf({ name: "alone", labels: { site: "ams" }, enabled: false }),
];

const BACKUP = interfaceOf({
  state: "BACKUP",
  configuredRole: "backup",
  priority: 100,
  advskew: 154,
  aliases: ["192.0.2.102", "192.0.2.103"],
});
const ODD = listOf(
  [
    interfaceOf({
      name: "carp0",
      state: "INIT",
      priority: undefined,
      aliases: undefined,
      device: "",
      peer: "",
    }),
    interfaceOf({ name: "carp1", vip: "2001:DB8:0::64", vhid: 3, advskew: 51, configuredRole: undefined }),
  ],
  {
    demotion: 240,
    unreadable: ["carp2"],
    anomalies: ["unknown_state", "bad_field", "bad_field", "advskew_mismatch", "bad_interface"],
  },
);

const OBSERVATIONS: readonly Observation[] = [
  seen.vrrp("waf-1", listOf([{ ...BACKUP, priority: 204 }]), { certificate }),
  seen.vrrp("waf-1", listOf([interfaceOf()]), {
    completedAtMs: WALL_MS + 5_250,
    durationSeconds: 0.125,
    certificate,
  }),
  seen.website("waf-1", 1, blocksOf(301, 200), { certificate, expiresAtMs: 80_000 }),
  seen.vrrp("waf-2", listOf([{ ...BACKUP, state: "INIT" }])),
  seen.vrrp("waf-2", listOf([BACKUP])),
  seen.website("waf-2", 1, blocksOf(200, 503), { expiresAtMs: 80_000 }),
  seen.website("waf-2", 1, blocksOf(200, 0), { expiresAtMs: 80_000 }),
  seen.vrrp("failed", listOf([interfaceOf()])),
  failed.vrrp("failed", "connect", { durationSeconds: 0.001 }),
  failed.vrrp("locked", "auth"),
  failed.website("locked", 3, "appliance_down", { durationSeconds: 0 }),
  seen.vrrp("odd", ODD),
];

/**
 * A fleet in which everything occurs: health, failure, deviations, websites, groups; and a
 * judge who has seen all of it.
 */
export function cannedFleet(): { readonly fleet: Fleet; readonly judge: Judge } {
  const [fleet, judge] = [createFleet(), createJudge()];
  fleet.configure(configOf(...APPLIANCES), 0);
  for (const observation of OBSERVATIONS) {
    fleet.record(observation, 0);
    verdictsOf(fleet, 0, judge, observation.completedAtMs);
  }
  return { fleet, judge };
}

/** The whole text of the canned fleet. */
export function cannedText(): Promise<string> {
  const { fleet, judge } = cannedFleet();
  return expositionOf(fleet, READ_AT_MS, judge);
}

/** The whole text of a pair whose websites are discovered, and are not the same. */
export function discoveredText(): Promise<string> {
  const discovery = { exclude: [], limit: 200 };
  const members = ["waf-1", "waf-2"].map((name) => {
    return applianceOf({ name, cluster: "ams", labels: { site: "ams" }, discovery });
  });
  return expositionOf(
    fleetOf(members, [
      seen.websites("waf-1", [7], { invalid: ["$[1]"] }),
      seen.websites("waf-2", [1, 8]),
      seen.details("waf-1", 7, {
        backends: gathered([
          { address: "192.0.2.81:8080", role: "active", isOk: false },
          { address: "[2001:db8::1]:443", role: "backup", isOk: true },
          { address: "192.0.2.83:8080", role: "down", isOk: undefined },
        ]),
      }),
      seen.details("waf-2", 1, {
        name: "blog",
        host: "",
        port: undefined,
        protocol: undefined,
        backends: undefined,
      }),
      seen.details("waf-2", 8, { mode: "pass" }),
    ]),
  );
}

/** The whole text of a pair after a failover, whose website went down with it, while a member is worked on. */
export async function failedOverText(): Promise<string> {
  const members = ["waf-1", "waf-2"].map((name) => {
    return applianceOf({ name, cluster: "ams", labels: { site: "ams" }, websites: [SHOP] });
  });
  const [fleet, judge] = [fleetOf(members), createJudge([windowOf({ appliances: ["waf-1"] })])];
  for (const observation of [
    seen.vrrp("waf-1", listOf([interfaceOf()])),
    seen.vrrp("waf-2", listOf([BACKUP])),
    seen.website("waf-1", 1, blocksOf(200, 200)),
    seen.website("waf-2", 1, blocksOf(200, 200)),
    seen.vrrp("waf-2", listOf([interfaceOf()])),
    seen.vrrp("waf-1", listOf([BACKUP])),
    seen.website("waf-2", 1, blocksOf(503, 200)),
    seen.website("waf-2", 1, blocksOf(503, 200)),
  ]) {
    fleet.record(observation, 0);
    verdictsOf(fleet, 0, judge);
  }
  return expositionOf(fleet, READ_AT_MS, judge);
}

/** The whole text of a fleet at a monotonic instant. */
export async function expositionOf(fleet: Fleet, nowMs = READ_AT_MS, judge = createJudge()): Promise<string> {
  return textOf(createFleetExposition(), verdictsOf(fleet, nowMs, judge));
}

export async function textOf(
  exposition: FleetExposition,
  verdicts: readonly ClusterVerdict[],
  preamble = "",
): Promise<string> {
  return (await exposition.render(preamble, verdicts, incidentsIn(verdicts))).join("");
}

/** The verdicts about a fleet at a monotonic instant, by a judge who may know those of before. */
export function verdictsOf(
  fleet: Fleet,
  nowMs = READ_AT_MS,
  judge = createJudge(),
  wallMs = WALL_MS + nowMs,
): readonly ClusterVerdict[] {
  return clustersOf(fleet, nowMs).map((facts) => judge.judge(facts, { wallMs, monotonicMs: nowMs }).now);
}

/** The lines of samples in a text whose name begins with `prefix`. */
export function sampleLines(text: string, prefix = ""): readonly string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#") && line.startsWith(prefix));
}

/** All that `/metrics` serves: the fleet's metrics and those of the exporter itself. */
export async function completeExposition(): Promise<string> {
  const self = createSelfMetrics({ version: "0.0.0", build: BUILD, shard: WHOLE_FLEET }, () => 0);
  self.reloaded(true, WALL_MS);
  return (await self.render()) + (await cannedText());
}
