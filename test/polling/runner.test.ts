import { afterEach, expect, test, vi } from "vitest";

import type { ApplianceConfig } from "../../src/config/config.ts";
import type { Observation } from "../../src/polling/observation.ts";
import { startRunner, type Runner } from "../../src/polling/runner.ts";
import { applianceOf, configOf, websiteOf } from "../support/observations.ts";
import { holdClock, type HeldClock } from "./held-clock.ts";
import {
  failing,
  fakeClient,
  NO_INTERFACES,
  shortly,
  SITE_OK,
  sitePath,
  VRRP_PATH,
  type FakeClient,
} from "./poller-support.ts";

interface HeldRunner {
  readonly clock: HeldClock;
  readonly runner: Runner;
  readonly observed: Observation[];
  readonly skipped: string[];
  /** Every client made, in order. */
  readonly clients: FakeClient[];
  apply(...appliances: readonly ApplianceConfig[]): void;
}

function startHeldRunner(...appliances: readonly ApplianceConfig[]): HeldRunner {
  const clock = holdClock();
  const observed: Observation[] = [];
  const skipped: string[] = [];
  const clients: FakeClient[] = [];
  const events = {
    started: () => {},
    ended: () => {},
    observed: (observation: Observation) => void observed.push(observation),
    skipped: (kind: string, reason: string, count: number) => void skipped.push(`${kind} ${reason} ${count}`),
  };
  const runner = startRunner({ clock, events, onClockJump: () => {} });
  const apply = (...next: readonly ApplianceConfig[]): void =>
    runner.prepare(configOf(...next), () => {
      const client = fakeClient();
      clients.push(client);
      return client;
    })();
  apply(...appliances);
  return { clock, runner, observed, skipped, clients, apply };
}

const SLOW = {
  vrrp: { kind: "interval", intervalMs: 600_000, timeoutMs: 4_000 },
  websites: { kind: "interval", intervalMs: 10_000, timeoutMs: 5_000 },
  maxConcurrentWebsiteTests: 4,
} as const;
const WAF = applianceOf({ name: "waf", websites: [websiteOf({ id: 1 })] });

afterEach(() => {
  vi.useRealTimers();
});

test("enabled appliances are asked for their list within a second, disabled ones never", async () => {
  const { clock, clients, runner } = startHeldRunner(WAF, { ...WAF, name: "off", enabled: false });
  await clock.pass(1_001);
  expect(clients.map((client) => client.waiting())).toEqual([["/api/v1/interface/virtual"]]);
  runner.stop();
});

test("websites are tested as soon as it is known whether the appliance can be reached", async () => {
  const {
    clock,
    clients: [client = fakeClient()],
    runner,
  } = startHeldRunner(WAF);
  await clock.pass(4_000);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
  runner.stop();
});

test("websites of a dead appliance are not tested, and are at once when it is back", async () => {
  const {
    clock,
    clients: [client = fakeClient()],
    observed,
    runner,
    skipped,
  } = startHeldRunner(WAF);
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, failing("connect"));
  expect(observed.map(shortly)).toEqual(["vrrp: connect", "website 1: appliance_down"]);
  await clock.pass(8_000);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
  await client.answer(sitePath(1), SITE_OK);
  expect(observed.map(shortly).slice(-2)).toEqual(["vrrp: ok", "website 1: ok"]);
  expect(skipped.filter((line) => line.startsWith("website"))).toEqual([]);
  runner.stop();
});

test("an appliance that stays as it was keeps its client and what is in flight over a reload", async () => {
  const { clock, clients, apply, observed, runner } = startHeldRunner(WAF);
  await clock.pass(1_001);
  apply(structuredClone(WAF), applianceOf({ name: "new" }));
  expect(clients).toHaveLength(2);
  expect(clients[0]?.isClosed).toBe(false);
  await clients[0]?.answer(VRRP_PATH, NO_INTERFACES);
  expect(observed.map(shortly)).toEqual(["vrrp: ok"]);
  runner.stop();
});

test("other labels cost no connection", () => {
  const { apply, clients, runner } = startHeldRunner(WAF);
  apply({ ...WAF, labels: { site: "ams" } });
  expect(clients).toHaveLength(1);
  runner.stop();
});

test("other credentials or TLS settings make a new client, and end the old one", async () => {
  const { clock, clients, apply, observed, runner } = startHeldRunner(WAF);
  await clock.pass(1_001);
  apply({ ...WAF, http: { ...WAF.http, fingerprint: "other" } });
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  await clients[0]?.answer(VRRP_PATH, failing("connect"));
  expect(observed).toEqual([]);
  expect(clients[1]?.waiting()).toEqual(["/api/v1/interface/virtual"]);
  runner.stop();
});

test("another base_url is another appliance: asked within a second, nothing of the old one observed", async () => {
  const { clock, clients, apply, observed, runner } = startHeldRunner(WAF);
  await clock.pass(3_000);
  apply({ ...WAF, baseUrl: "https://elsewhere.example" });
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  await clock.pass(1_001);
  expect(clients[1]?.waiting()).toEqual(["/api/v1/interface/virtual"]);
  await clients[0]?.answer(VRRP_PATH, NO_INTERFACES);
  expect(observed).toEqual([]);
  runner.stop();
});

test("an appliance that is gone or disabled is not asked any more, and its client is ended", async () => {
  const { clock, clients, apply, runner } = startHeldRunner(WAF, { ...WAF, name: "other" });
  apply({ ...WAF, enabled: false });
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  await clock.pass(10_000);
  expect(clients.flatMap((client) => client.waiting())).toEqual([]);
  runner.stop();
});

test("nothing is asked after the stop, and every client is ended", async () => {
  const { clock, clients, runner } = startHeldRunner(WAF, { ...WAF, name: "other" });
  runner.stop();
  await clock.pass(10_000);
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  expect(clients.flatMap((client) => client.waiting())).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test("polls that pass while the process is blocked are counted by their operation", async () => {
  const {
    clock,
    clients: [client = fakeClient()],
    skipped,
    runner,
  } = startHeldRunner({ ...WAF, websites: [] });
  await clock.pass(10_000);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  clock.block(20_000);
  await clock.pass(5_000);
  expect(skipped.filter((line) => line.includes("missed"))).toEqual([
    expect.stringMatching(/^vrrp missed [34]$/),
  ]);
  runner.stop();
});

test("a website that a reload brings to a reachable appliance is tested at once, however rare its lists are", async () => {
  const slow = { ...WAF, polling: SLOW };
  const {
    clock,
    clients: [client = fakeClient()],
    apply,
    runner,
  } = startHeldRunner(slow);
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await client.answer(sitePath(1), SITE_OK);
  apply({ ...slow, websites: [websiteOf({ id: 1 }), websiteOf({ id: 2 })] });
  await clock.pass(10_000);
  expect(client.waiting()).toContain("/api/v1/website/2/test");
  runner.stop();
});

test("websites go on being tested when a reload changes their interval, however rare the lists are", async () => {
  const slow = { ...WAF, polling: SLOW };
  const {
    clock,
    clients: [client = fakeClient()],
    apply,
    runner,
  } = startHeldRunner(slow);
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await client.answer(sitePath(1), SITE_OK);
  apply({ ...slow, polling: { ...SLOW, websites: { ...SLOW.websites, intervalMs: 12_000 } } });
  await clock.pass(12_000);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
  runner.stop();
});

test("a website that comes while its appliance is down is tested once, not twice, when it is back", async () => {
  const {
    clock,
    clients: [client = fakeClient()],
    apply,
    skipped,
    runner,
  } = startHeldRunner({ ...WAF, websites: [] });
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, failing("connect"));
  apply(WAF);
  await clock.pass(8_000);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
  expect(skipped.filter((line) => line.startsWith("website"))).toEqual([]);
  runner.stop();
});

const LISTS = { appliances: ["waf"], operation: { kind: "vrrp" }, afterMs: 1000 } as const;
const SELDOM = applianceOf({ name: "waf", polling: SLOW });

test("a confirming poll is made once after its time, however often it is wanted", async () => {
  const {
    clock,
    clients: [client = fakeClient()],
    observed,
    runner,
    skipped,
  } = startHeldRunner(SELDOM);
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  runner.confirm(LISTS);
  runner.confirm({ ...LISTS, appliances: ["gone", "waf"] });
  await clock.pass(999);
  expect(client.waiting()).toEqual([]);
  await clock.pass(1);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
  // While it is in flight, no other is made.
  runner.confirm(LISTS);
  await clock.pass(1_000);
  expect(skipped).toEqual([]);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(observed).toHaveLength(2);
  await clock.pass(60_000);
  expect(client.waiting()).toEqual([]);
  runner.stop();
});

test("no confirming poll is made during backoff, nor after the appliance is gone", async () => {
  const {
    clock,
    clients: [client = fakeClient()],
    runner,
    skipped,
    apply,
  } = startHeldRunner(SELDOM);
  await clock.pass(1_001);
  runner.confirm(LISTS);
  await client.answer(VRRP_PATH, failing("auth"));
  await clock.pass(10_000);
  runner.confirm(LISTS);
  await clock.pass(10_000);
  expect(client.waiting()).toEqual([]);
  expect(skipped).toEqual([]);
  apply(SELDOM, applianceOf({ name: "other", polling: SLOW }));
  runner.confirm({ ...LISTS, appliances: ["other"] });
  apply();
  await clock.pass(10_000);
  expect(client.waiting()).toEqual([]);
  runner.stop();
});
