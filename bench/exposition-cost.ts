import { Gauge, Registry } from "prom-client";
import { createFleet } from "../src/fleet/fleet.ts";
import { createFleetExposition } from "../src/metrics/exposition.ts";
import { createJudge } from "../src/status/judge.ts";
import { applianceOf, configOf, interfaceOf, vrrpSeen } from "../test/support/observations.ts";
import { median, type Measurement } from "./support.ts";

const APPLIANCES = 500;
/** Six series for each interface and nine for each appliance: a little over 100,000 series. */
const INTERFACES = Array.from({ length: 32 }, (_, vhid) => {
  return interfaceOf({ name: `carp${vhid}`, vhid, vip: `192.0.2.${vhid}` });
});
const ROUNDS = 9;
const AT = { wallMs: 0, monotonicMs: 0 };

/** Rendering 100,000 series whose text was prepared on observation, compared with prom-client. */
export async function measureExposition(): Promise<Measurement> {
  const fleet = createFleet();
  const exposition = createFleetExposition();
  const judge = createJudge();
  const verdicts = () => judge.judgeAll(fleet.snapshot(0), AT).map(({ now }) => now);
  const names = Array.from({ length: APPLIANCES }, (_, index) => `fw${index}`);
  fleet.configure(configOf(...names.map((name) => applianceOf({ name }))), 0);
  for (const name of names) {
    const observation = vrrpSeen(name, { interfaces: INTERFACES, unreadable: [], anomalies: [] });
    const { cluster } = fleet.record(observation, 0);
    if (cluster !== undefined) exposition.prepare(judge.judge(cluster, AT).now);
  }
  const text = exposition.render(verdicts()).toString();
  const registry = registryWith(text);

  const oursMs: number[] = [];
  const peerMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    oursMs.push(await msOf(async () => exposition.render(verdicts()).length));
    peerMs.push(await msOf(async () => Buffer.from(await registry.metrics()).length));
  }
  const [own, peer] = [median(oursMs), median(peerMs)];
  return {
    name: `/metrics with ${text.match(SAMPLE)?.length ?? 0} series of the fleet`,
    measured: `${own.toFixed(1)} ms`,
    peer: `prom-client: ${peer.toFixed(1)} ms`,
    ratio: (own / peer).toFixed(3),
    goal: "ratio at most 0.1",
  };
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

const SAMPLE = /^(\w+)\{(.*)\} (\S+)$/gm;
const LABEL = /(\w+)="([^"]*)"/g;

/** The same series in prom-client; no value here needs escaping. */
function registryWith(text: string): Registry {
  const registry = new Registry();
  const gauges = new Map<string, Gauge>();
  for (const [, name = "", labelText = "", value] of text.matchAll(SAMPLE)) {
    const labels = Object.fromEntries(
      [...labelText.matchAll(LABEL)].map(([, label, content]) => [label, content ?? ""]),
    );
    const made = { name, help: "The same series.", labelNames: Object.keys(labels), registers: [registry] };
    const gauge = gauges.get(name) ?? new Gauge(made);
    gauges.set(name, gauge);
    gauge.set(labels, Number(value));
  }
  return registry;
}
