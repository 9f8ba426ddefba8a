import { expect, test } from "vitest";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { Body } from "../../../src/exporter/client/client.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import type { PollEvents } from "../../../src/exporter/polling/observation.ts";
import type { Endpoint } from "../../../src/exporter/client/client.ts";
import { startRunner } from "../../../src/exporter/polling/runner.ts";
import { applianceOf, configOf, websiteOf } from "../../support/observations.ts";
import { holdClock } from "./held-clock.ts";
import {
  failing,
  NO_EVENTS,
  NO_INTERFACES,
  shortly,
  SITE_OK,
  slowClient,
  testsOnly,
} from "./poller-support.ts";

const LIST = "/api/v1/interface/virtual";
const TEST = "/api/v1/website/1/test";
/** Lists are due every 5 s, tests every 30 s. */
const { polling } = applianceOf({ name: "a" });

/** An appliance with so many websites, of which so many are tested at the same time. */
function serving(name: string, websites: number, maxConcurrentWebsiteTests = websites): ApplianceConfig {
  return applianceOf({
    name,
    websites: Array.from({ length: websites }, (_, nth) => websiteOf({ id: nth + 1 })),
    polling: { ...polling, maxConcurrentWebsiteTests },
  });
}

interface Answers {
  readonly takesMs?: number;
  readonly list?: Outcome<Body>;
}

/** A runner under a held clock, with clients that answer on their own, and what it did. */
function startAnswered(answers: Answers, ...appliances: readonly ApplianceConfig[]) {
  const { takesMs = 300, list = NO_INTERFACES } = answers;
  const clock = holdClock();
  const sent: { readonly name: string; readonly path: string; readonly atMs: number }[] = [];
  const [observed, skipped, late]: readonly [string[], string[], number[]] = [[], [], []];
  const runner = startRunner({ clock, onClockJump: () => {}, operationsOf: testsOnly });
  const events: PollEvents = {
    ...NO_EVENTS,
    started: (_, latenessSeconds) => void late.push(latenessSeconds),
    observed: (observation) => void observed.push(shortly(observation)),
    skipped: (kind, reason) => void skipped.push(`${kind} ${reason}`),
  };
  const createClient = ({ baseUrl }: Endpoint) =>
    slowClient(takesMs, (path) => {
      const name = new URL(baseUrl).hostname.replace(".example", "");
      sent.push({ name, path, atMs: clock.monotonicMs() });
      return path === LIST ? list : SITE_OK;
    });
  const apply = (...next: readonly ApplianceConfig[]): void =>
    void runner.prepare(configOf(...next), createClient, events)();
  apply(...appliances);
  const instants = (name: string, path: string): readonly number[] =>
    sent.filter((each) => each.name === name && each.path === path).map(({ atMs }) => atMs);
  /** How many polls of the path began while so much time passed. */
  const countIn = async (ms: number, name: string, path: string): Promise<number> => {
    const before = instants(name, path).length;
    await clock.pass(ms);
    return instants(name, path).length - before;
  };
  return { clock, runner, apply, instants, countIn, observed, skipped, late };
}

test.each([
  ["list", LIST, 120, 12],
  ["website", TEST, 60, 2],
])(
  "the %s of hastened appliances is polled often, of others as configured",
  async (_, path, hastened, configured) => {
    const { clock, runner, countIn } = startAnswered({}, serving("a", 1), serving("b", 1));
    await clock.pass(60_000);
    expect(await countIn(60_000, "a", path)).toBe(configured);
    runner.hasten(new Set(["a"]));
    // The first one is not on the grid.
    expect(hastened - (await countIn(60_000, "a", path))).toBeOneOf([0, 1]);
    expect(await countIn(60_000, "b", path)).toBe(configured);
    runner.hasten(new Set(["b"]));
    expect(hastened - (await countIn(60_000, "b", path))).toBeOneOf([0, 1]);
    expect(await countIn(60_000, "a", path)).toBe(configured);
  },
);

test("appliances are hastened within a second, and no longer when the set is empty", async () => {
  const { clock, runner, countIn, instants } = startAnswered({}, serving("a", 1));
  await clock.pass(60_000);
  runner.hasten(new Set(["a"]));
  expect(await countIn(1_000, "a", TEST)).toBe(1);
  await clock.pass(9_000);
  runner.hasten(new Set());
  await clock.pass(1_000);
  const end = instants("a", TEST).length;
  await clock.pass(14_000);
  expect(instants("a", TEST)).toHaveLength(end);
});

test("a reload hastens no other appliance, and one that it replaces or adds stays hastened", async () => {
  const { clock, runner, apply, countIn } = startAnswered({}, serving("a", 1), serving("b", 1));
  runner.hasten(new Set(["a", "c"]));
  await clock.pass(60_000);
  apply({ ...serving("a", 1), baseUrl: "https://a.example:8443" }, serving("b", 1), serving("c", 1));
  await clock.pass(10_000);
  expect(await countIn(60_000, "a", LIST)).toBe(120);
  expect(await countIn(60_000, "b", LIST)).toBe(12);
  expect(await countIn(60_000, "c", TEST)).toBe(60);
});

test("hastened tests wait for slots: none is left out, fails, counts as late or skipped, or follows the one before at once", async () => {
  const { clock, runner, instants, observed, skipped, late } = startAnswered(
    { takesMs: 1_700 },
    serving("a", 20, 2),
  );
  await clock.pass(60_000);
  const [fromMs, polls] = [clock.monotonicMs(), late.length];
  runner.hasten(new Set(["a"]));
  await clock.pass(180_000);
  const bySite = Array.from({ length: 20 }, (_, nth) =>
    instants("a", `/api/v1/website/${nth + 1}/test`).filter((atMs) => atMs >= fromMs),
  );
  for (const tests of bySite) {
    const apart = tests.slice(1).map((atMs, nth) => atMs - (tests[nth] ?? 0));
    // Twenty tests of 1.7 s share two slots.
    expect(Math.min(...apart)).toBeGreaterThan(10_000);
    expect(Math.max(...apart)).toBeLessThan(20_000);
  }
  expect(observed.filter((line) => !line.endsWith("ok"))).toEqual([]);
  expect(skipped).toEqual([]);
  expect(Math.max(...late.slice(polls))).toBeLessThan(1);
});

test("a test that waited for its slot is not followed by another one within a second", async () => {
  const { clock, runner, instants } = startAnswered({ takesMs: 450 }, serving("a", 3, 1));
  runner.hasten(new Set(["a"]));
  await clock.pass(120_000);
  const tests = instants("a", TEST);
  const apart = tests.slice(1).map((atMs, nth) => atMs - (tests[nth] ?? 0));
  expect(Math.min(...apart)).toBeGreaterThanOrEqual(900);
  expect(tests.length).toBeGreaterThan(60);
});

test("an appliance that hangs has one poll in flight, and none counts as skipped", async () => {
  const { runner, countIn, skipped } = startAnswered({ takesMs: 4_000 }, applianceOf({ name: "a", polling }));
  runner.hasten(new Set(["a"]));
  expect(await countIn(60_000, "a", LIST)).toBeLessThanOrEqual(15);
  expect(skipped).toEqual([]);
});

test("no test is sent to an appliance that is down while its hastened list hangs", async () => {
  const down = serving("a", 1);
  const { clock, runner, instants } = startAnswered(
    { takesMs: 8_000, list: failing("timeout") },
    {
      ...down,
      polling: {
        ...polling,
        vrrp: { kind: "interval", intervalMs: 60_000, timeoutMs: 10_000 },
        websites: { kind: "interval", intervalMs: 5_000, timeoutMs: 4_000 },
      },
    },
  );
  runner.hasten(new Set(["a"]));
  await clock.pass(60_000);
  expect(instants("a", LIST).length).toBeGreaterThan(5);
  expect(instants("a", TEST)).toEqual([]);
});

test("instants of haste that a blocked process misses do not count", async () => {
  const { clock, runner, skipped } = startAnswered({}, serving("a", 1));
  runner.hasten(new Set(["a"]));
  await clock.pass(10_000);
  clock.block(3_000);
  await clock.pass(5_000);
  expect(skipped).toEqual([]);
});

test("haste sends no credentials more often to an appliance that refuses them", async () => {
  const { clock, runner, instants } = startAnswered({ list: failing("auth") }, serving("a", 1));
  runner.hasten(new Set(["a"]));
  await clock.pass(60_000);
  // Backoff lasts 5, 10, 20 and 40 s.
  expect(instants("a", LIST)).toHaveLength(4);
  expect(instants("a", TEST)).toEqual([]);
});
