import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { gathered } from "../../src/exporter/api/website-details.ts";
import type { Config } from "../../src/exporter/config/config.ts";
import { WHOLE_FLEET } from "../../src/exporter/config/shard.ts";
import { createFleet } from "../../src/exporter/fleet/fleet.ts";
import type { Observation } from "../../src/exporter/polling/observation.ts";
import { judge } from "../../src/exporter/judge/judge.ts";
import type { ClusterVerdict } from "../../src/exporter/judge/verdict.ts";
import { isEqual } from "../../src/support/kept.ts";
import { createLog } from "../../src/support/log.ts";
import {
  applianceOf,
  blocksOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  PUBLIC_TARGETS,
  seen,
  WALL_MS,
  websiteOf,
} from "../support/observations.ts";
import { NO_PAST } from "./judge/support.ts";

// Courses of a fleet, judged twice at each step.
vi.setConfig({ testTimeout: 40_000 });

/** With `CACHES_RUNS=2000` there are so many courses, and with `SEED=7` other ones. */
const RUNS = Number(process.env["CACHES_RUNS"] ?? 25);
const SEED = Number(process.env["SEED"] ?? 1);

const VIPS = ["192.0.2.101", "192.0.2.102"];
const members = fc.constantFrom("a", "b", "c");
const ids = fc.integer({ min: 1, max: 4 });

/** Ids that mean other websites elsewhere, websites that listen on one VIP, and other servers now and then. */
const details = fc.record({
  name: fc.constantFrom("", "shop", "blog"),
  host: fc.constantFrom("", "shop.example", "blog.example", "wiki.example"),
  port: fc.constantFrom(443, undefined),
  isEnabled: fc.constantFrom(true, true, false),
  protocol: fc.constantFrom("both", "https"),
  mode: fc.constantFrom("protect", "pass", undefined),
  bind: fc.constantFrom(["*"], [...VIPS], ["192.0.2.101"], ["192.0.2.55"], ["192.0.2.7"], []),
  backends: fc
    .array(
      fc.record({
        address: fc.constantFrom("192.0.2.81:80", "192.0.2.82:80"),
        role: fc.constantFrom("active", "down"),
        isOk: fc.boolean(),
      } as const),
      { maxLength: 2 },
    )
    .map(gathered),
} as const);

/** What an interface says beside its state. */
const said = fc.record({
  priority: fc.constantFrom(100, 204, undefined),
  aliases: fc.constantFrom([], ["192.0.2.7"], undefined),
  configuredRole: fc.constantFrom("master", "backup"),
} as const);

const poll: fc.Arbitrary<Observation> = fc.oneof(
  fc
    .tuple(members, fc.constantFrom("MASTER", "BACKUP", "INIT"), fc.constantFrom("MASTER", "BACKUP"), said)
    .map(([name, first, second, more]) => {
      const interfaces = [first, second].map((state, nth) =>
        interfaceOf({ name: VIPS[nth] ?? "", vhid: nth, vip: VIPS[nth] ?? "", state, ...more }),
      );
      return seen.vrrp(name, listOf(interfaces));
    }),
  fc
    .tuple(members, fc.constantFrom("timeout", "auth", "decode", "local"))
    .map(([name, reason]) => failed.vrrp(name, reason)),
  fc
    .tuple(members, fc.uniqueArray(ids), fc.constantFrom([], [], ["4x"]))
    .map(([name, all, invalid]) => seen.websites(name, all, { invalid })),
  members.map((name) => failed.websites(name, "decode")),
  fc.tuple(members, ids, details).map(([name, id, more]) => seen.details(name, id, more)),
  fc.tuple(members, ids).map(([name, id]) => failed.details(name, id, "http_status", { isGone: true })),
  fc.tuple(members, ids).map(([name, id]) => failed.details(name, id, "timeout")),
  fc
    .tuple(members, ids, fc.constantFrom(200, 503))
    .map(([name, id, status]) => seen.website(name, id, blocksOf(status, 200))),
  fc.tuple(members, ids).map(([name, id]) => failed.website(name, id, "timeout")),
);

/** A configuration that reloads alternate between; a name in capitals is disabled. */
function configFor(names: readonly string[], labels: Readonly<Record<string, string>> = {}) {
  const appliances = names.map((name) =>
    applianceOf({
      name: name.toLowerCase(),
      cluster: "ams",
      labels,
      enabled: name === name.toLowerCase(),
      websites: name === "b" ? [websiteOf({ id: 3 })] : [],
      ...(name === "d" ? {} : { discovery: { exclude: [], limit: 200 } }),
    }),
  );
  return configOf(...appliances);
}

const CONFIGS = [
  configFor(["a", "b"]),
  configFor(["a", "b", "c"]),
  configFor(["b", "a"]),
  configFor(["a", "b", "d"]),
  configFor(["a", "b", "C"]),
  configFor(["a", "b"], { site: "ams" }),
  configFor(["a"]),
];

/** Everything is known, so that what follows changes single facts. */
const BEGINNING: readonly Observation[] = ["a", "b", "c", "d"].flatMap((name) => [
  seen.vrrp(
    name,
    listOf(
      VIPS.map((vip, vhid) =>
        interfaceOf({ name: vip, vhid, vip, state: name === "a" ? "MASTER" : "BACKUP" }),
      ),
    ),
  ),
  seen.websites(name, [1, 2, 3]),
  ...[1, 2, 3].flatMap((id) => [
    seen.details(name, id, { name: `${id}`, host: `${id}.example`, bind: VIPS.slice(id - 1) }),
    ...(id === 3 ? [] : [seen.website(name, id, blocksOf(200, 200))]),
  ]),
]);

/** Everything between observations and what readers see; if it is not cached, it makes all of it again for each reader. */
async function createProgram(isCached: boolean) {
  vi.resetModules();
  if (!isCached)
    vi.doMock("../../src/support/kept.ts", () => ({
      isEqual,
      kept: (_: unknown, now: unknown) => now,
      memo: (make: (inputs: unknown) => unknown) => (_: object, inputs: unknown) => make(inputs),
      once: (make: unknown) => make,
      areSame: () => false,
    }));
  const { createFleet: create } = await import("../../src/exporter/fleet/fleet.ts");
  const { createStatusBoard } = await import("../../src/exporter/board/board.ts");
  const { createFleetExposition } = await import("../../src/exporter/metrics/exposition.ts");
  const { createStatusPage } = await import("../../src/exporter/page/page.ts");
  const { createTimelines } = await import("../../src/history/timeline/timelines.ts");
  const { websiteTargets } = await import("../../src/exporter/web/website-targets.ts");
  // Other tests in this process get modules of their own.
  vi.doUnmock("../../src/support/kept.ts");
  vi.resetModules();
  return () => {
    const fleet = create();
    let nowMs = 0;
    const clock = { wallMs: () => WALL_MS + nowMs, monotonicMs: () => nowMs };
    const polls = { started: () => {}, observed: () => {}, skipped: () => {}, ended: () => {} };
    const runner = { confirm: () => {}, replan: () => {}, nextPollMs: () => undefined };
    const { logger } = createLog("error", "json", 2);
    const deps = { version: "1.2.3", shard: WHOLE_FLEET, fleet, self: polls, logger, clock, ...NO_PAST };
    const board = createStatusBoard({ ...deps, runner });
    const exposition = createFleetExposition();
    const page = createStatusPage({
      ...clock,
      document: board.document,
      timelines: { ...createTimelines(), damages: () => [] },
      telemetryPath: "metrics",
      assets: "",
    });
    return {
      configure: (config: Config, atMs: number) => fleet.configure(config, (nowMs = atMs)),
      observe: (observation: Observation, atMs: number) => {
        nowMs = atMs;
        board.observed({ ...observation, expiresAtMs: atMs + 14_000 });
      },
      /** What a scrape and the discovery of targets get, and the caches that the next poll meets. */
      scrape: async () => {
        const { verdicts, incidents } = await board.current();
        const texts = await exposition.render("", verdicts, incidents);
        const targets = await websiteTargets(verdicts, PUBLIC_TARGETS);
        return [texts.join(""), targets?.text.join("\n")];
      },
      /** What people see. */
      show: async () => {
        const { text: markup } = await page(new URLSearchParams("open=all"));
        return [JSON.stringify(await board.document(), undefined, 1), markup.join("")];
      },
    };
  };
}

const [createCached, createUncached] = [await createProgram(true), await createProgram(false)];

test("what comes from caches is what is made afresh, over observations, reloads and time", async () => {
  const reload = fc.nat(CONFIGS.length - 1);
  const step = fc.oneof({ weight: 6, arbitrary: poll }, { weight: 1, arbitrary: reload });
  const steps = fc.array(fc.tuple(step, fc.constantFrom(0, 1, 1000, 5000)), { minLength: 5, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(fc.nat(BEGINNING.length), steps, async (skipped, random) => {
      const [cached, afresh] = [createCached(), createUncached()];
      const programs = [cached, afresh];
      let nowMs = 0;
      for (const program of programs) program.configure(CONFIGS[0] ?? configOf(), 0);
      const beginning = BEGINNING.slice(skipped).map((each) => [each, 0] as const);
      for (const [nth, [each, passesMs]] of [...beginning, ...random].entries()) {
        nowMs += passesMs;
        for (const program of programs) {
          if (typeof each === "number") program.configure(CONFIGS[each] ?? configOf(), nowMs);
          else program.observe(each, nowMs);
        }
        if (nth < beginning.length - 1) continue;
        expect(await cached.scrape()).toEqual(await afresh.scrape());
      }
      expect(await cached.show()).toEqual(await afresh.show());
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

test("a test that finds something new replaces the verdict on its website alone", () => {
  const websites = [1, 2, 3].map((id) => websiteOf({ id }));
  const fleet = createFleet();
  fleet.configure(configOf(applianceOf({ name: "a", cluster: "ams", websites })), 0);
  const verdictAfter = (observation: Observation, before?: ClusterVerdict): ClusterVerdict => {
    fleet.record(observation, 0);
    const facts = fleet.cluster("ams", 0);
    if (facts === undefined) throw new Error("the cluster is configured");
    return judge(facts, before, { wallMs: 0, monotonicMs: 0 });
  };
  let before = verdictAfter(seen.vrrp("a", listOf([interfaceOf()])));
  for (const id of [1, 2, 3]) before = verdictAfter(seen.website("a", id, blocksOf(200, 200)), before);
  const same = verdictAfter(seen.website("a", 2, blocksOf(200, 200)), before);
  expect(same.websites).toBe(before.websites);
  const unconfirmed = verdictAfter(seen.website("a", 2, blocksOf(503, 200)), before);
  expect(unconfirmed.cachedInputs).not.toBe(before.cachedInputs);
  const now = verdictAfter(seen.website("a", 2, blocksOf(503, 200)), before);
  const changed = [...now.websites].filter(([key, website]) => before.websites.get(key) !== website);
  expect(changed.map(([key]) => key)).toEqual(["#2"]);
});
