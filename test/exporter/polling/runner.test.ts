import { expect, test, vi } from "vitest";
import { applianceOf, websiteOf } from "../../support/observations.ts";
import {
  failing,
  NO_INTERFACES,
  shortly,
  SITE_OK,
  sitePath,
  startHeldRunner,
  VRRP_PATH,
} from "./poller-support.ts";

const SLOW = {
  vrrp: { kind: "interval", intervalMs: 600_000, timeoutMs: 4_000 },
  websites: { kind: "interval", intervalMs: 10_000, timeoutMs: 5_000 },
  discovery: { kind: "interval", intervalMs: 300_000, timeoutMs: 20_000 },
  maxConcurrentWebsiteTests: 4,
} as const;
const WAF = applianceOf({ name: "waf", websites: [websiteOf({ id: 1 })] });

test("enabled appliances are polled for their list within a second, disabled ones never", async () => {
  const { clock, clients } = startHeldRunner(WAF, { ...WAF, name: "off", enabled: false });
  await clock.pass(1_001);
  expect(clients.map((client) => client.waiting())).toEqual([["/api/v1/interface/virtual"]]);
});

test("websites are tested within a second of the first poll of the appliance's list", async () => {
  const { clock, client } = startHeldRunner(WAF);
  await clock.pass(4_000);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.waiting()).toEqual([]);
  await clock.pass(1_000);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
});

test("websites of an appliance that is down are not tested, and are tested at once when it is back", async () => {
  const { clock, client, observed, skipped } = startHeldRunner(WAF);
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, failing("connect"));
  await clock.pass(1_000);
  expect(observed.map(shortly)).toEqual(["vrrp: connect", "website 1: appliance_down"]);
  await clock.pass(7_000);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
  await client.answer(sitePath(1), SITE_OK);
  expect(observed.map(shortly).slice(-2)).toEqual(["vrrp: ok", "website 1: ok"]);
  expect(skipped.filter((line) => line.startsWith("website"))).toEqual([]);
});

test("other labels cost no connection", () => {
  const { apply, clients } = startHeldRunner(WAF);
  apply({ ...WAF, labels: { site: "ams" } });
  expect(clients).toHaveLength(1);
});

test("other credentials or TLS settings create a new client, which polls within a second, and close the old one", async () => {
  const { clock, clients, apply, observed } = startHeldRunner(WAF);
  await clock.pass(1_001);
  apply({ ...WAF, http: { ...WAF.http, tls: { ...WAF.http.tls, serverName: "other" } } });
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  await clients[0]?.answer(VRRP_PATH, failing("connect"));
  expect(observed).toEqual([]);
  await clock.pass(1_001);
  expect(clients[1]?.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("another address is polled within a second, and nothing more at the old one", async () => {
  const { clock, clients, apply } = startHeldRunner({ ...WAF, polling: SLOW });
  await clock.pass(1_001);
  await clients[0]?.answer(VRRP_PATH, NO_INTERFACES);
  apply({ ...WAF, polling: SLOW, baseUrl: "https://other.example" });
  await clock.pass(1_001);
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  expect(clients.map((client) => client.waiting())).toEqual([[], ["/api/v1/interface/virtual"]]);
});

test("nothing is polled after the stop, and every client is closed", async () => {
  const { clock, clients, runner } = startHeldRunner(WAF, { ...WAF, name: "other" });
  runner.stop();
  await clock.pass(10_000);
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  expect(clients.flatMap((client) => client.waiting())).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a website that a reload adds to a reachable appliance is tested at once, even if its lists are rare", async () => {
  const slow = { ...WAF, polling: SLOW };
  const { clock, client, apply } = startHeldRunner(slow);
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await clock.pass(1_000);
  await client.answer(sitePath(1), SITE_OK);
  apply({ ...slow, websites: [websiteOf({ id: 1 }), websiteOf({ id: 2 })] });
  await clock.pass(10_000);
  expect(client.waiting()).toContain("/api/v1/website/2/test");
});

const LISTS = {
  appliances: ["waf"],
  operation: { kind: "vrrp" },
  occasion: "confirming",
  afterMs: 1000,
} as const;
const SELDOM = applianceOf({ name: "waf", polling: SLOW });

test("a confirming poll is made once after its time, however often it is wanted", async () => {
  const { clock, client, observed, runner, skipped } = startHeldRunner(SELDOM);
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
});

test("no confirming poll is made during backoff, nor after the appliance is gone", async () => {
  const { clock, client, runner, skipped, apply } = startHeldRunner(SELDOM);
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
});

test("a second look is made although the regular poll is due soon, but not if it is due in its second half", async () => {
  const { clock, client, runner, observed } = startHeldRunner(SELDOM);
  const look = { ...LISTS, occasion: "second_look", afterMs: 60_000 } as const;
  const pass = async (ms: number) => {
    for (const untilMs = performance.now() + ms; performance.now() < untilMs;) {
      await clock.pass(1_000);
      if (client.waiting().length > 0) await client.answer(VRRP_PATH, NO_INTERFACES);
    }
    return observed.map(({ isOutOfTurn }) => (isOutOfTurn ? "look" : "turn"));
  };
  runner.confirm(look);
  expect(await pass(62_000)).toEqual(["turn", "look"]);
  const nextMs = runner.nextPollMs("waf", look.operation) ?? 0;
  await pass(nextMs - performance.now() - 45_000);
  runner.confirm(look);
  expect(await pass(120_000)).toEqual(["turn", "look", "turn"]);
});

test("no confirming poll is made where the regular poll is due by then", async () => {
  const { clock, client, runner, observed } = startHeldRunner({ ...WAF, websites: [] });
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  runner.confirm({ ...LISTS, afterMs: 6_000 });
  for (let second = 0; second < 60; second += 1) {
    await clock.pass(1_000);
    if (client.waiting().length > 0) await client.answer(VRRP_PATH, NO_INTERFACES);
  }
  expect(observed).toHaveLength(1 + 60 / 5);
});
