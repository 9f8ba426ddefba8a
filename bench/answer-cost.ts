import { WHOLE_FLEET } from "../src/exporter/config/shard.ts";
import { openSync } from "node:fs";
import { decodeVrrpList } from "../src/exporter/api/vrrp-list.ts";
import { decodeWebsiteTest } from "../src/exporter/api/website-test.ts";
import { createFleet } from "../src/exporter/fleet/fleet.ts";
import { createLog } from "../src/support/log.ts";
import { createSelfMetrics } from "../src/exporter/metrics/self.ts";
import { createRedact } from "../src/exporter/client/credentials.ts";
import { systemClock } from "../src/support/clock.ts";
import type { Observation } from "../src/exporter/polling/observation.ts";
import { createStatusBoard } from "../src/exporter/board/board.ts";
import { applianceOf, configOf, websiteOf } from "../test/support/observations.ts";
import { WORST_LISTS, WORST_TESTS, type WorstAnswer } from "../test/support/worst-answers.ts";
import { median, type Measurement } from "./support.ts";
import { BUILD } from "../test/support/build-facts.ts";

/** The number of members of one cluster. Each sends the worst answer within the limits. */
const MEMBERS = 8;
const ROUNDS = 12;
const WARM_UP_ROUNDS = 4;
const NULL_FD = openSync("/dev/null", "w");

/**
 * Measures the longest stall of the event loop between the last byte of one answer and rendered text, for the worst bodies. Long answers
 * are decoded in a separate turn.
 */
export async function measureAnswer(): Promise<Measurement> {
  const rows = [
    ...Object.entries(WORST_LISTS).map(([name, body]) => ({ name, ms: msOfLists(body) })),
    ...Object.entries(WORST_TESTS).map(([name, body]) => ({ name, ms: msOfTests(body) })),
  ];
  for (const { name, ms } of rows) process.stderr.write(`  ${ms.toFixed(1).padStart(7)} ms  ${name}\n`);
  const ms = Math.max(...rows.map((row) => row.ms));
  const worst = rows.find((row) => row.ms === ms)?.name;
  return {
    name: `worst answer within the limits, last byte to text: ${worst}`,
    measured: `${ms.toFixed(1)} ms`,
    peer: "none",
    ratio: "",
    goal: "at most 50 ms",
  };
}

function msOfLists(bodyOf: WorstAnswer): number {
  const redact = createRedact(
    `Basic ${Buffer.from("monitor:correct horse").toString("base64")}`,
    "correct horse",
  );
  return msOf(bodyOf, (body, dated) => {
    const decoded = decodeVrrpList(body, redact);
    const outcome = decoded.ok ? decoded : { ok: false as const, failure: decoded.failure };
    return { ...dated, kind: "vrrp", outcome };
  });
}

function msOfTests(bodyOf: WorstAnswer): number {
  return msOf(bodyOf, (body, dated) => {
    const decoded = decodeWebsiteTest(body, (text) => text);
    const outcome = decoded.ok ? decoded : { ok: false as const, failure: decoded.failure };
    return { ...dated, kind: "website_test", websiteId: 1, outcome };
  });
}

type Dated = Pick<
  Observation,
  | "appliance"
  | "completedAtMs"
  | "isOutOfTurn"
  | "sentAtMs"
  | "sinceMs"
  | "durationSeconds"
  | "expiresAtMs"
  | "certificate"
>;

function msOf(bodyOf: WorstAnswer, observationOf: (body: Buffer, dated: Dated) => Observation): number {
  const names = Array.from({ length: MEMBERS }, (_, who) => `fw${who}`);
  const websites = [websiteOf({ id: 1 })];
  const fleet = createFleet();
  fleet.configure(configOf(...names.map((name) => applianceOf({ name, cluster: "c", websites }))), 0);
  const observer = createStatusBoard({
    version: "0",
    shard: WHOLE_FLEET,
    fleet,
    self: createSelfMetrics({ version: "0", build: BUILD, shard: WHOLE_FLEET }, () => 0),
    logger: createLog("info", "json", NULL_FD).logger,
    clock: systemClock,
    listener: { judged: () => {}, happened: () => {}, reloaded: () => {} },
    restored: { memories: new Map(), ongoing: new Map(), incidents: [] },
    windows: { covering: () => [], coming: () => [] },
    runner: { confirm: () => {}, replan: () => {}, nextPollMs: () => undefined },
  });
  const measured: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const [who, appliance] of names.entries()) {
      const body = bodyOf(turn, who);
      const startedMs = performance.now();
      const observation = observationOf(body, {
        appliance,
        completedAtMs: Date.now(),
        isOutOfTurn: false,
        sentAtMs: startedMs,
        sinceMs: undefined,
        durationSeconds: 0,
        expiresAtMs: Number.POSITIVE_INFINITY,
        certificate: undefined,
      });
      const decodedMs = performance.now();
      observer.observed(observation);
      const longestMs = Math.max(decodedMs - startedMs, performance.now() - decodedMs);
      if (turn >= WARM_UP_ROUNDS) measured.push(longestMs);
    }
  }
  return median(measured);
}
