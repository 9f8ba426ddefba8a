import { WHOLE_FLEET } from "../src/config/shard.ts";
import { createFleet } from "../src/fleet/fleet.ts";
import { createStatusPage } from "../src/page/status-page.ts";
import { createStatusBoard } from "../src/status/board.ts";
import { applianceOf, configOf, interfaceOf, vrrpSeen } from "../test/support/observations.ts";
import { APPLIANCES } from "./fleet-page.ts";
import { median, type Measurement } from "./support.ts";

const GROUPS = 2;
const ROUNDS = 40;

/** CPU time of an update in the exporter, from its data to HTML; compared with the same document as JSON. */
export async function measurePageRender(): Promise<Measurement> {
  const clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
  const fleet = createFleet();
  const names = Array.from({ length: APPLIANCES }, (_, index) => `fw${index}`);
  const appliances = names.map((name, index) =>
    applianceOf({ name, cluster: `pair${Math.floor(index / 2)}` }),
  );
  fleet.configure(configOf(...appliances), clock.monotonicMs());
  for (const [index, name] of names.entries()) {
    const state = index % 2 === 0 ? "MASTER" : "BACKUP";
    const interfaces = Array.from({ length: GROUPS }, (_, vhid) => {
      return interfaceOf({ name: `carp${vhid}`, vhid, vip: `192.0.2.${vhid}`, state });
    });
    fleet.record(vrrpSeen(name, { interfaces, unreadable: [], anomalies: [] }), clock.monotonicMs());
  }
  const board = createStatusBoard({ version: "0.0.0", shard: WHOLE_FLEET, clock });
  const runner = { nextPollMs: () => clock.monotonicMs() + 1000 };
  const document = () => board.document(fleet.snapshot(clock.monotonicMs()), runner);
  const render = createStatusPage({ ...clock, document, telemetryPath: "/metrics", assets: "assets" });

  const own = cpuMs(() => render(new URLSearchParams("fragment")));
  const peer = cpuMs(() => JSON.stringify(document()));
  return {
    name: `an update of the status page in the exporter, ${APPLIANCES} appliances`,
    measured: `${own.toFixed(1)} ms of CPU`,
    peer: `the document as JSON: ${peer.toFixed(1)} ms`,
    ratio: (own / peer).toFixed(2),
    goal: "at most 20 ms",
  };
}

function cpuMs(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return median(times);
}
