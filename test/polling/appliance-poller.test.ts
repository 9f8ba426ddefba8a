import pLimit from "p-limit";
import { afterEach, expect, test, vi } from "vitest";

import { createAppliancePoller } from "../../src/polling/appliance-poller.ts";
import { applianceOf, WALL_MS, websiteOf } from "../support/observations.ts";
import {
  failing,
  fakeClient,
  NO_INTERFACES,
  settle,
  shortly,
  SITE_OK,
  sitePath,
  startHeldPoller,
  VRRP,
  VRRP_PATH,
  WAF,
  website,
} from "./poller-support.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a poll is observed with its result, its dates and the instant from which it counts as stalled", async () => {
  const { clock, client, due, observed, started } = startHeldPoller();
  await due(VRRP);
  expect(started).toEqual([{ kind: "vrrp", latenessSeconds: 0 }]);
  await clock.pass(250);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(observed).toEqual([
    {
      kind: "vrrp",
      appliance: "waf",
      outcome: { ok: true, value: { interfaces: [], unreadable: [], anomalies: [] } },
      completedAtMs: WALL_MS + 250,
      durationSeconds: 0.25,
      expiresAtMs: 250 + 2 * 5_000 + 4_000,
      certificate: undefined,
    },
  ]);
});

test("a poll that is due while the one before is in flight is skipped and counted, never doubled", async () => {
  const { client, due, skipped, inFlight, observed } = startHeldPoller();
  await due(VRRP);
  await due(VRRP, VRRP);
  expect(client.waiting()).toHaveLength(1);
  expect(inFlight()).toBe(1);
  const overlap = { kind: "vrrp", reason: "overlap", count: 1 };
  expect(skipped).toEqual([overlap, overlap]);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await due(VRRP);
  expect(client.waiting()).toHaveLength(1);
  expect(observed).toHaveLength(1);
});

test("operations do not wait for each other: the list is asked for while every website hangs", async () => {
  const { client, due, observed } = startHeldPoller();
  await due(website(1), website(2), website(3), website(4));
  await due(VRRP);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(observed.map(shortly)).toEqual(["vrrp: ok"]);
  expect(client.waiting()).toHaveLength(4);
});

test("no more website tests than the appliance has slots are in flight; waiting is lateness, not part of the poll", async () => {
  const polling = { ...WAF.polling, maxConcurrentWebsiteTests: 2 };
  const { clock, client, due, started, observed } = startHeldPoller({ ...WAF, polling });
  await due(website(1), website(2), website(3));
  expect(client.waiting()).toHaveLength(2);
  await clock.pass(3_000);
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toHaveLength(2);
  expect(started.map(({ latenessSeconds }) => latenessSeconds)).toEqual([0, 0, 3]);
  await clock.pass(500);
  await client.answer(sitePath(3), SITE_OK);
  expect(observed.map(({ durationSeconds }) => durationSeconds)).toEqual([3, 0.5]);
});

test("no more website tests than the fleet has slots are in flight, and lists never wait behind them", async () => {
  const fleetSlots = pLimit(1);
  const { client, due } = startHeldPoller(WAF, fleetSlots);
  await due(website(1), website(2), VRRP);
  expect(client.waiting().toSorted()).toEqual(["/api/v1/interface/virtual", "/api/v1/website/1/test"]);
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting().toSorted()).toEqual(["/api/v1/interface/virtual", "/api/v1/website/2/test"]);
});

test("another number of slots counts from the next update on", async () => {
  const { client, due, poller } = startHeldPoller({
    ...WAF,
    polling: { ...WAF.polling, maxConcurrentWebsiteTests: 1 },
  });
  await due(website(1), website(2), website(3));
  expect(client.waiting()).toHaveLength(1);
  poller.update({ ...WAF, polling: { ...WAF.polling, maxConcurrentWebsiteTests: 3 } }, client);
  await settle();
  expect(client.waiting()).toHaveLength(3);
});

test.each(["dns", "connect", "tls", "timeout", "proxy", "auth"] as const)(
  "website tests of an appliance whose list fails with %s are not sent",
  async (reason) => {
    const { client, due, poll, observed, started } = startHeldPoller();
    await poll(VRRP, failing(reason));
    await due(website(1));
    expect(client.waiting()).toEqual([]);
    expect(observed.map(shortly)).toEqual([`vrrp: ${reason}`, "website 1: appliance_down"]);
    expect(started).toHaveLength(1);
  },
);

test.each(["http_status", "decode", "protocol", "too_large", "secret", "local", "internal"] as const)(
  "website tests of an appliance whose list fails with %s are sent all the same",
  async (reason) => {
    const { client, due, poll } = startHeldPoller();
    await poll(VRRP, failing(reason));
    await due(website(1));
    expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
  },
);

test("website tests that wait for a slot are not sent either once the appliance is down, and leave their slots", async () => {
  const polling = { ...WAF.polling, maxConcurrentWebsiteTests: 1 };
  const { client, due, poll, observed } = startHeldPoller({ ...WAF, polling });
  await due(website(1), website(2), website(3));
  await poll(VRRP, failing("timeout"));
  await client.answer(sitePath(1), failing("timeout"));
  expect(client.waiting()).toEqual([]);
  expect(observed.map(shortly)).toEqual([
    "vrrp: timeout",
    "website 1: timeout",
    "website 2: appliance_down",
    "website 3: appliance_down",
  ]);
});

test("an appliance that can be reached again is told to be back, once", async () => {
  const { poll, polled } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  await poll(VRRP, failing("connect"));
  await poll(VRRP, failing("connect"));
  await poll(VRRP, failing("decode"));
  await poll(VRRP, NO_INTERFACES);
  expect(polled).toEqual([false, false, false, true, false]);
});

test("what an abandoned client had under way is not observed, but polled again by the next one", async () => {
  const { client, due, poller, observed, skipped, inFlight } = startHeldPoller();
  await due(VRRP, website(1));
  const next = fakeClient();
  poller.update(WAF, next);
  expect(client.isClosed).toBe(true);
  await client.answer(VRRP_PATH, failing("connect"));
  await client.answer(sitePath(1), SITE_OK);
  expect(observed).toEqual([]);
  expect(next.waiting()).toHaveLength(2);
  await next.answer(VRRP_PATH, NO_INTERFACES);
  await next.answer(sitePath(1), SITE_OK);
  expect(observed.map(shortly)).toEqual(["vrrp: ok", "website 1: ok"]);
  expect(skipped).toEqual([]);
  expect(inFlight()).toBe(0);
});

test("an update with the same client lets polls under way go on", async () => {
  const { client, due, poller, observed } = startHeldPoller();
  await due(VRRP);
  poller.update({ ...WAF, labels: { site: "ams" } }, client);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.isClosed).toBe(false);
  expect(observed.map(shortly)).toEqual(["vrrp: ok"]);
});

test("nothing is asked or observed after the end, neither what was in flight nor what waited for a slot", async () => {
  const polling = { ...WAF.polling, maxConcurrentWebsiteTests: 1 };
  const { client, due, poller, observed } = startHeldPoller({ ...WAF, polling });
  await due(VRRP, website(1), website(2));
  poller.close();
  expect(client.isClosed).toBe(true);
  await client.answer(VRRP_PATH, failing("connect"));
  await client.answer(sitePath(1), failing("connect"));
  await due(VRRP);
  expect(client.waiting()).toEqual([]);
  expect(observed).toEqual([]);
});

test("a website that was taken away while its test waited is not asked for", async () => {
  const appliance = applianceOf({ name: "waf", websites: [websiteOf({ id: 1 }), websiteOf({ id: 2 })] });
  const one = { ...appliance, polling: { ...appliance.polling, maxConcurrentWebsiteTests: 1 } };
  const { client, due, poller, observed } = startHeldPoller(one);
  await due(website(1), website(2));
  poller.update({ ...one, websites: [websiteOf({ id: 1 })] }, client);
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toEqual([]);
  expect(observed.map(shortly)).toEqual(["website 1: ok"]);
});

test("a client that is abandoned between the pause and the request is not asked any more", async () => {
  const { client, poller, clock } = startHeldPoller();
  poller.due(VRRP, clock.monotonicMs());
  poller.close();
  await settle();
  expect(client.waiting()).toEqual([]);
});

test("two pollers with the same fleet's slots share them", async () => {
  const fleetSlots = pLimit(1);
  const one = startHeldPoller(WAF, fleetSlots);
  const client = fakeClient();
  const events = { started: () => {}, observed: () => {}, skipped: () => {}, ended: () => {} };
  const deps = {
    clock: one.clock,
    events,
    fleetSlots,
    observesAsked: false,
    twoGapsMs: () => 10_000,
    onVrrpPolled: () => {},
  };
  const other = createAppliancePoller(deps, { ...WAF, name: "other" }, client);
  await one.due(website(1));
  other.due(website(1), 0);
  await settle();
  expect(client.waiting()).toEqual([]);
  await one.client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
});
