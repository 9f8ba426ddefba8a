import { expect, test } from "vitest";
import { OUT_OF_TURN, type OutOfTurn } from "../../../src/exporter/polling/decide.ts";
import { FAILURE_REASONS } from "../../../src/exporter/api/failure.ts";
import { WALL_MS } from "../../support/observations.ts";
import {
  failing,
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

const ONE_SLOT = { ...WAF, polling: { ...WAF.polling, maxConcurrentWebsiteTests: 1 } };

test("a poll is observed with its result, its times and the instant at which it becomes stalled", async () => {
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
      isOutOfTurn: false,
      sentAtMs: 0,
      sinceMs: undefined,
      durationSeconds: 0.25,
      expiresAtMs: 250 + 2 * 5_000 + 4_000,
      certificate: undefined,
    },
  ]);
});

test("a poll that is due while the previous one is in flight is skipped and counted", async () => {
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

test("website tests in flight are limited by the appliance's slots; the wait counts as lateness, not as part of the poll", async () => {
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

test("a test is late from its turn on, however late the one before was sent", async () => {
  const { clock, client, due, poller, started } = startHeldPoller(ONE_SLOT);
  await due(website(1), website(2));
  await clock.pass(3_000);
  await client.answer(sitePath(1), SITE_OK);
  await client.answer(sitePath(2), SITE_OK);
  await clock.pass(30_000);
  poller.due(website(2), 30_000);
  await settle();
  expect(started.map(({ latenessSeconds }) => latenessSeconds)).toEqual([0, 3, 3]);
});

const STOPPING: ReadonlySet<string> = new Set(["dns", "connect", "tls", "timeout", "proxy", "auth", "vip"]);

test.each(FAILURE_REASONS)(
  "whether website tests are sent after the list has failed with %s",
  async (reason) => {
    const { due, poll, observed, started } = startHeldPoller();
    await poll(VRRP, failing(reason));
    await due(website(1));
    const isSent = !STOPPING.has(reason);
    expect(started).toHaveLength(isSent ? 2 : 1);
    const instead = isSent ? [] : ["website 1: appliance_down"];
    expect(observed.map(shortly)).toEqual([`vrrp: ${reason}`, ...instead]);
  },
);

const RARE = { kind: "interval", intervalMs: 86_400_000, timeoutMs: 4_000 } as const;

test.each([
  ["two of its intervals", WAF, 10_000],
  ["their own interval, if lists are rare", { ...WAF, polling: { ...WAF.polling, vrrp: RARE } }, 30_000],
])("a failed list suppresses website tests for %s, then they are sent", async (_, appliance, forMs) => {
  const { clock, client, due, poll, observed } = startHeldPoller(appliance);
  await poll(VRRP, failing("timeout"));
  await clock.pass(forMs - 1);
  await due(website(1));
  expect(client.waiting()).toEqual([]);
  await clock.pass(1);
  await due(website(1));
  await client.answer(sitePath(1), SITE_OK);
  expect(observed.map(shortly)).toEqual(["vrrp: timeout", "website 1: appliance_down", "website 1: ok"]);
});

test("a failed list suppresses website tests while its next poll is in flight", async () => {
  const { clock, client, due, poll } = startHeldPoller();
  await poll(VRRP, failing("timeout"));
  await clock.pass(9_999);
  await due(VRRP);
  await clock.pass(4_000);
  await due(website(1));
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
  await client.answer(VRRP_PATH, failing("decode"));
  expect(client.waiting()).toContain("/api/v1/website/1/test");
});

test.each(FAILURE_REASONS.filter((reason) => reason !== "appliance_down"))(
  "a list that fails with %s ends website tests only if the appliance is lost",
  async (reason) => {
    const { clock, client, due, poll, observed, inFlight } = startHeldPoller(ONE_SLOT);
    await poll(VRRP, NO_INTERFACES);
    await due(website(1), website(2));
    await clock.pass(5_000);
    await due(VRRP);
    await clock.pass(4_000);
    await client.answer(VRRP_PATH, failing(reason));
    const isLost = reason === "connect" || reason === "timeout";
    expect(observed.map(shortly)).toEqual([
      "vrrp: ok",
      `vrrp: ${reason}`,
      ...(isLost ? ["website 1: appliance_down", "website 2: appliance_down"] : []),
    ]);
    if (!isLost) return;
    expect(observed[2]).toMatchObject({ sentAtMs: 0, durationSeconds: undefined });
    expect([client.waiting(), inFlight()]).toEqual([[], 0]);
    await poll(VRRP, NO_INTERFACES);
    expect(client.waiting()).toEqual([expect.stringContaining(sitePath(1))]);
  },
);

test("a refused list suppresses website tests during its backoff", async () => {
  const { clock, client, due, poll, observed } = startHeldPoller();
  for (const pauseMs of [5_000, 10_000, 20_000, 40_000]) {
    await poll(VRRP, failing("auth"));
    await clock.pass(pauseMs - 1);
    await due(website(1));
    await clock.pass(1);
  }
  expect(client.waiting()).toEqual([]);
  expect(observed.map(shortly).filter((line) => line.startsWith("website"))).toEqual(
    Array(4).fill("website 1: appliance_down"),
  );
});

test("website tests that wait for a slot are not sent once the appliance is down, and release their slots", async () => {
  const { client, due, poll, observed } = startHeldPoller(ONE_SLOT);
  await due(website(1), website(2), website(3));
  await poll(VRRP, failing("timeout"));
  await settle();
  expect(client.waiting()).toEqual([]);
  expect(observed.map(shortly)).toEqual([
    "vrrp: timeout",
    "website 1: appliance_down",
    "website 2: appliance_down",
    "website 3: appliance_down",
  ]);
});

test("website tests begin after the first poll of the list, and those that an outage prevented are made once after it", async () => {
  const { client, due, poll, regular, observed } = startHeldPoller();
  expect([...regular]).toEqual(["vrrp"]);
  await poll(VRRP, failing("connect"));
  expect(regular.size).toBe(5);
  await due(website(1), website(2), website(1));
  await poll(VRRP, failing("connect"));
  expect(client.waiting()).toEqual([]);
  await poll(VRRP, failing("decode"));
  expect(client.waiting()).toEqual(["/api/v1/website/1/test", "/api/v1/website/2/test"]);
  for (const id of [1, 2]) await client.answer(sitePath(id), SITE_OK);
  await poll(VRRP, NO_INTERFACES);
  expect(client.waiting()).toEqual([]);
  expect(observed.filter(({ isOutOfTurn }) => isOutOfTurn).map(shortly)).toEqual([
    "website 1: ok",
    "website 2: ok",
  ]);
});

test("an operation is polled out of turn four times at most between two of its turns, whatever calls for it, without those after an outage", async () => {
  const { clock, client, due, poll, poller, observed } = startHeldPoller();
  const confirm = async (occasion: OutOfTurn) => {
    for (const _ of [1, 2]) poller.confirm(website(1), occasion, 1000);
    await clock.pass(1000);
    for (const _ of client.waiting()) await client.answer(sitePath(1), SITE_OK);
  };
  await poll(VRRP, NO_INTERFACES);
  for (const _ of [1, 2]) await confirm("confirming");
  await poll(VRRP, failing("connect"));
  await due(website(1));
  await poll(VRRP, NO_INTERFACES);
  await client.answer(sitePath(1), SITE_OK);
  await confirm("confirming");
  await poll(website(1), SITE_OK);
  for (const _ of [1, 2, 3, 4]) for (const occasion of OUT_OF_TURN) await confirm(occasion);
  expect(observed.map((each) => `${shortly(each)}${each.isOutOfTurn ? ", out of turn" : ""}`)).toEqual([
    "vrrp: ok",
    "website 1: ok, out of turn",
    "vrrp: connect",
    "website 1: appliance_down",
    "vrrp: ok",
    "website 1: ok, out of turn",
    "website 1: ok, out of turn",
    "website 1: ok",
    ...Array.from({ length: 4 }, () => "website 1: ok, out of turn"),
  ]);
});

test.each(OUT_OF_TURN)("a poll out of turn, %s, does not come before the first turn", async (occasion) => {
  const { clock, client, poller } = startHeldPoller();
  poller.confirm(website(1), occasion, 1000);
  await clock.pass(1000);
  expect(client.waiting()).toEqual([]);
});

test("a second look ends with the website that it is at", async () => {
  const { clock, client, poll, poller, replan } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  poller.confirm(website(1), "second_look", 60_000);
  replan({ tests: [] });
  replan({ tests: [1] });
  await clock.pass(60_000);
  expect(client.waiting()).toEqual([]);
});

test("a list that recovers out of turn has nothing else polled, the next one in turn has", async () => {
  const { clock, client, due, poll, poller } = startHeldPoller();
  await poll(VRRP, failing("connect"));
  await due(website(1));
  poller.confirm(VRRP, "confirming", 1000);
  await clock.pass(1000);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(client.waiting()).toEqual([]);
  await poll(VRRP, NO_INTERFACES);
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
});

test("nothing is sent or observed after the end, neither polls in flight nor polls that waited for a slot", async () => {
  const { client, due, poller, observed, regular } = startHeldPoller(ONE_SLOT);
  await due(VRRP, website(1), website(2));
  poller.close();
  expect(client.isClosed).toBe(true);
  await client.answer(VRRP_PATH, failing("connect"));
  await client.answer(sitePath(1), failing("connect"));
  await due(VRRP);
  expect(client.waiting()).toEqual([]);
  expect(observed).toEqual([]);
  poller.arrange();
  expect([...regular]).toEqual([]);
});

test("a website that is removed and added again is not tested twice at once", async () => {
  const { client, due, replan, poll, regular } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  await due(website(1));
  replan({ tests: [] });
  expect([...regular]).toEqual(["vrrp"]);
  replan({ tests: [1] });
  await due(website(1));
  expect(client.waiting()).toHaveLength(1);
  await client.answer(sitePath(1), SITE_OK);
  await due(website(1));
  expect(client.waiting()).toHaveLength(1);
});

test("the test of a website that was removed while it waited is not sent", async () => {
  const { client, due, replan, observed } = startHeldPoller(ONE_SLOT);
  await due(website(1), website(2));
  replan({ tests: [1] });
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toEqual([]);
  expect(observed.map(shortly)).toEqual(["website 1: ok"]);
});

test("a website that is removed while it waits, and added again, is tested once, in its place", async () => {
  const { client, due, replan, skipped } = startHeldPoller(ONE_SLOT);
  await due(website(1), website(2), website(3));
  replan({ tests: [1, 3] });
  replan({ tests: [1, 2, 3] });
  await due(website(2));
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toEqual(["/api/v1/website/2/test"]);
  await client.answer(sitePath(2), SITE_OK);
  expect(client.waiting()).toEqual(["/api/v1/website/3/test"]);
  expect(skipped).toEqual([]);
});

test("a client that is closed while new credentials are read is not used", async () => {
  const { poller, client, clock, poll } = startHeldPoller();
  await poll(VRRP, failing("auth"));
  client.hasCredentials = true;
  poller.due(VRRP, clock.monotonicMs());
  poller.close();
  await settle();
  expect(client.waiting()).toEqual([]);
});

test("a test that would wait until its latest result is stale fails as `local` before that, and becomes due again", async () => {
  const { clock, client, due, poll, observed, started } = startHeldPoller(ONE_SLOT);
  await poll(website(2), SITE_OK);
  await clock.pass(30_000);
  await due(website(1), website(2));
  // Its result expires after 80 s; a test sent at 60 s could take until then, and a quarter of an interval is reserved.
  await clock.pass(22_499);
  expect(observed.map(shortly)).toEqual(["website 2: ok"]);
  await clock.pass(1);
  expect(observed.slice(1)).toEqual([
    {
      kind: "website_test",
      websiteId: 2,
      appliance: "waf",
      outcome: {
        ok: false,
        failure: {
          reason: "local",
          message: "not sent: it waited 23 s for a free slot (max_concurrent_website_tests_per_appliance)",
        },
      },
      completedAtMs: WALL_MS + 52_500,
      isOutOfTurn: false,
      sinceMs: 0,
      durationSeconds: undefined,
      expiresAtMs: 52_500 + 2 * 30_000 + 20_000,
      certificate: undefined,
    },
  ]);
  await due(website(2));
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toEqual(["/api/v1/website/2/test"]);
  expect(started.map(({ latenessSeconds }) => latenessSeconds)).toEqual([0, 0, 0]);
});

test("while all slots of an appliance hang, no result of its websites becomes stale", async () => {
  const { clock, client, due, observed } = startHeldPoller(ONE_SLOT);
  const expiresAtMs = new Map<number, number>();
  for (let second = 0; second < 600; second += 1) {
    if (second % 30 === 0) await due(website(1), website(2), website(3), website(4));
    for (const path of client.waiting())
      if (second % 20 === 19) await client.answer(path, failing("timeout"));
    for (const one of observed.splice(0))
      if (one.kind === "website_test") expiresAtMs.set(one.websiteId, one.expiresAtMs);
    for (const untilMs of expiresAtMs.values()) expect(untilMs).toBeGreaterThan(clock.monotonicMs());
    await clock.pass(1_000);
  }
  expect(expiresAtMs.size).toBe(4);
});

test("a test whose wait for a slot failed stays ahead of tests that were due later", async () => {
  const { clock, client, due } = startHeldPoller(ONE_SLOT);
  await due(website(1), website(2));
  await clock.pass(1);
  await due(website(3));
  await clock.pass(52_499);
  await due(website(2));
  await client.answer(sitePath(1), SITE_OK);
  expect(client.waiting()).toEqual(["/api/v1/website/2/test"]);
});
