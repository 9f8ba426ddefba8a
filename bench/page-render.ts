import { formatShard, WHOLE_FLEET } from "../src/exporter/config/shard.ts";
import { createFleet } from "../src/exporter/fleet/fleet.ts";
import { createStatusPage } from "../src/exporter/page/page.ts";
import type { Operation } from "../src/exporter/api/operation.ts";
import { fleetJson } from "../src/exporter/document/document.ts";
import { createSelfMetrics } from "../src/exporter/metrics/self.ts";
import { createRecorder } from "../src/history/journal/recorder.ts";
import { createTimelines } from "../src/history/timeline/timelines.ts";
import { createStatusBoard } from "../src/exporter/board/board.ts";
import { createLog } from "../src/support/log.ts";
import { compressed } from "../src/support/long-text.ts";
import { applianceOf, configOf, failed, interfaceOf, seen, websiteOf } from "../test/support/observations.ts";
import { BUILD } from "../test/support/build-facts.ts";
import { APPLIANCES } from "./fleet-page.ts";
import { median, type Measurement } from "./support.ts";

const STDERR_FD = 2;
const GROUPS = 2;
const WEBSITES = [1, 2];
const ROUNDS = 60;
/** The default intervals: VRRP lists every 5 s, website tests every 30 s. */
const [LISTS_EVERY_S, TESTS_EVERY_S] = [5, 30];
/** One in this number of appliances does not answer. */
const FAILING = 50;
/** The reader opened three clusters besides those that are open at first. */
const QUERY = "fragment&open=cluster-pair100&open=cluster-pair200&open=cluster-pair249";

/**
 * Measures the CPU time of an update in the exporter, from its data to compressed HTML, after a second of polls. Its peer is the same
 * document as compressed JSON.
 */
export async function measurePageRender(): Promise<Measurement> {
  const fleet = startFleet();
  const own = await cpuMs(fleet.pollForASecond, async () =>
    compressed((await fleet.render(new URLSearchParams(QUERY))).text),
  );
  const peer = await cpuMs(fleet.pollForASecond, async () =>
    compressed(await fleetJson(await fleet.document())),
  );
  return {
    name: `an update of the status page in the exporter, ${APPLIANCES} appliances`,
    measured: `${own.toFixed(1)} ms of CPU`,
    peer: `the document as JSON: ${peer.toFixed(1)} ms`,
    ratio: (own / peer).toFixed(2),
    goal: "at most 20 ms",
  };
}

function startFleet() {
  const clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
  const fleet = createFleet();
  const names = Array.from({ length: APPLIANCES }, (_, index) => `fw${index}`);
  const websites = WEBSITES.map((id) => websiteOf({ id }));
  const appliances = names.map((name, index) =>
    applianceOf({
      name,
      cluster: `pair${Math.floor(index / 2)}`,
      labels: { site: `s${index % 8}` },
      websites,
    }),
  );
  const dueMs = new Map<string, number>();

  const timelines = createTimelines();
  const { logger } = createLog("error", "json", STDERR_FD);
  const recorder = createRecorder({
    version: "0.0.0",
    shard: formatShard(WHOLE_FLEET),
    clock,
    logger,
    onRecord: timelines.read,
    journal: undefined,
  });
  const board = createStatusBoard({
    version: "0.0.0",
    shard: WHOLE_FLEET,
    fleet,
    self: createSelfMetrics({ version: "0.0.0", build: BUILD, shard: WHOLE_FLEET }, () => 0),
    logger,
    clock,
    listener: recorder,
    restored: { memories: new Map(), ongoing: new Map(), incidents: [] },
    windows: { covering: () => [], coming: () => [] },
    runner: {
      confirm: () => {},
      replan: () => {},
      nextPollMs: (name: string, operation: Operation) =>
        dueMs.get("websiteId" in operation ? `${name} ${operation.websiteId}` : name),
    },
  });
  const record = board.observed;

  function pollList(index: number): void {
    const name = names[index] ?? "";
    const given = { completedAtMs: clock.wallMs(), expiresAtMs: Number.POSITIVE_INFINITY };
    dueMs.set(name, clock.monotonicMs() + 1000 * LISTS_EVERY_S);
    if (index % FAILING === 1) return record(failed.vrrp(name, "timeout", given));
    const interfaces = Array.from({ length: GROUPS }, (_, vhid) => {
      const state = index % 2 === 0 ? "MASTER" : "BACKUP";
      return interfaceOf({ name: `carp${vhid}`, vhid, vip: `192.0.2.${vhid}`, state });
    });
    record(seen.vrrp(name, { interfaces, unreadable: [], anomalies: [] }, given));
  }
  function testWebsites(index: number): void {
    const name = names[index] ?? "";
    const given = { completedAtMs: clock.wallMs(), expiresAtMs: Number.POSITIVE_INFINITY };
    const blocks = (["http", "https"] as const).map((protocol) => ({ protocol, status: 200 }));
    for (const id of WEBSITES) {
      dueMs.set(`${name} ${id}`, clock.monotonicMs() + 1000 * TESTS_EVERY_S);
      record(seen.website(name, id, blocks, given));
    }
  }

  fleet.configure(configOf(...appliances), clock.monotonicMs());
  for (const index of names.keys()) {
    pollList(index);
    testWebsites(index);
  }
  const { document } = board;
  let second = 0;
  return {
    document,
    render: createStatusPage({
      ...clock,
      document,
      timelines: { ...timelines, damages: () => [] },
      telemetryPath: "/metrics",
      assets: "assets",
    }),
    pollForASecond: () => {
      second += 1;
      for (const index of names.keys()) {
        if (index % LISTS_EVERY_S === second % LISTS_EVERY_S) pollList(index);
        if (index % TESTS_EVERY_S === second % TESTS_EVERY_S) testWebsites(index);
      }
    },
  };
}

async function cpuMs(prepare: () => void, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    prepare();
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return median(times);
}
