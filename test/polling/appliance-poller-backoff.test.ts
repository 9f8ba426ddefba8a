import { expect, test } from "vitest";

import {
  failing,
  fakeClient,
  NO_INTERFACES,
  shortly,
  SITE_OK,
  sitePath,
  startHeldPoller,
  VRRP,
  VRRP_PATH,
  WAF,
  website,
} from "./poller-support.ts";

const AUTH = failing("auth");
const deferred = (retryAfterMs: number) => failing("http_status", { status: 503, retryAfterMs });

test("after a test is refused before the list succeeded, the appliance backs off for one interval, and due polls are counted as skipped", async () => {
  const { clock, client, due, poll, skipped } = startHeldPoller();
  await poll(website(1), AUTH);
  await clock.pass(29_999);
  await due(VRRP, website(1), website(2));
  expect(client.waiting()).toEqual([]);
  expect(skipped).toEqual([
    { kind: "vrrp", reason: "backoff", count: 1 },
    { kind: "website_test", reason: "backoff", count: 1 },
    { kind: "website_test", reason: "backoff", count: 1 },
  ]);
  await clock.pass(1);
  await due(VRRP);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("a test that is refused while the list succeeds backs off alone: the list and other tests continue", async () => {
  const { clock, client, due, poll, observed } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  await poll(website(1), AUTH);
  await clock.pass(29_999);
  await due(VRRP, website(1), website(2));
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual", "/api/v1/website/2/test"]);
  await clock.pass(1);
  await due(website(1));
  expect(client.waiting()).toContain("/api/v1/website/1/test");
  expect(observed.map(shortly)).toEqual(["vrrp: ok", "website 1: auth"]);
});

test("after a test is refused with newer credentials than the list's, the appliance backs off", async () => {
  const { client, due, poll } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  client.credentials = Symbol("credentials");
  await poll(website(1), AUTH);
  await due(VRRP, website(2));
  expect(client.waiting()).toEqual([]);
});

test("after a backoff of the appliance the list is polled first, and tests at once when it succeeds", async () => {
  const { clock, client, due, poll } = startHeldPoller();
  await poll(website(1), AUTH);
  await clock.pass(30_000);
  await due(website(2));
  expect(client.waiting()).toEqual([]);
  await poll(VRRP, NO_INTERFACES);
  await due(website(1), website(2));
  expect(client.waiting()).toEqual(["/api/v1/website/1/test", "/api/v1/website/2/test"]);
});

test("after a backoff of the appliance tests continue without the list once it is two intervals late", async () => {
  const { clock, client, due, poll } = startHeldPoller();
  await poll(website(1), AUTH);
  await clock.pass(39_999);
  await due(website(2));
  expect(client.waiting()).toEqual([]);
  await clock.pass(1);
  await due(website(2));
  expect(client.waiting()).toEqual(["/api/v1/website/2/test"]);
});

test("an appliance that keeps refusing is polled less and less often, but at least every five minutes", async () => {
  const { clock, client, due } = startHeldPoller();
  const askedAtS: number[] = [];
  for (let second = 0; second <= 1_500; second += 5) {
    await due(VRRP);
    if (client.waiting().length > 0) {
      askedAtS.push(second);
      await client.answer(VRRP_PATH, AUTH);
    }
    await clock.pass(5_000);
  }
  expect(askedAtS).toEqual([0, 5, 15, 35, 75, 155, 315, 615, 915, 1_215]);
});

test("refusals of polls that were in flight together count as one", async () => {
  const { clock, client, due } = startHeldPoller();
  await due(VRRP, website(1), website(2), website(3));
  await clock.pass(10);
  for (const path of [VRRP_PATH, sitePath(1), sitePath(2), sitePath(3)]) await client.answer(path, AUTH);
  await clock.pass(5_000);
  await due(VRRP);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("new credentials end the backoff at the next due poll", async () => {
  const { client, due, poll } = startHeldPoller();
  await poll(VRRP, AUTH);
  await due(VRRP);
  expect(client.waiting()).toEqual([]);
  client.hasCredentials = true;
  await due(VRRP);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("a changed configuration ends the backoff", async () => {
  const { due, poll, poller } = startHeldPoller();
  await poll(VRRP, AUTH);
  const next = fakeClient();
  poller.update(WAF, next);
  await due(VRRP);
  expect(next.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("a refused appliance is not stalled during its backoff", async () => {
  const { clock, due, poll, observed } = startHeldPoller();
  for (let i = 0; i < 9; i += 1) {
    await poll(VRRP, AUTH);
    const latest = observed.at(-1);
    const nextTurnMs = clock.monotonicMs() + Math.min(5_000 * 2 ** i, 300_000);
    expect(latest?.expiresAtMs).toBe(nextTurnMs + 14_000);
    while (clock.monotonicMs() < nextTurnMs) {
      await due(VRRP);
      await clock.pass(5_000);
    }
  }
});

test("a result of another operation that would become stale during the backoff ends with the actual reason", async () => {
  const { clock, client, due, poll, observed } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  client.credentials = Symbol("credentials");
  await poll(website(1), AUTH);
  for (let i = 0; i < 4; i += 1) {
    await clock.pass(5_000);
    await due(VRRP);
  }
  expect(observed.map(shortly)).toEqual(["vrrp: ok", "website 1: auth", "vrrp: auth"]);
  const [list, , ended] = observed;
  expect(clock.monotonicMs()).toBeGreaterThan(list?.expiresAtMs ?? 0);
  expect(ended?.expiresAtMs).toBeGreaterThan(30_000);
});

test("an operation that failed before the backoff is reported as refused, never as stalled", async () => {
  const { clock, due, poll, observed } = startHeldPoller();
  await poll(VRRP, failing("decode"));
  await poll(website(1), AUTH);
  for (let i = 0; i < 5; i += 1) {
    await clock.pass(5_000);
    await due(VRRP);
  }
  const latest = observed.findLast(({ kind }) => kind === "vrrp");
  expect(latest?.expiresAtMs).toBeGreaterThan(clock.monotonicMs() + 5_000);
});

test("an operation that was never polled before the backoff is reported as refused, not as stalled", async () => {
  const { clock, due, poll, observed } = startHeldPoller();
  await poll(website(1), AUTH);
  await clock.pass(5_000);
  await due(website(2));
  // Two intervals and a timeout after the start a website that was never tested counts as stalled.
  expect(observed.map(shortly)).toEqual(["website 1: auth", "website 2: auth"]);
});

test("Retry-After affects only its operation", async () => {
  const { clock, client, due, poll } = startHeldPoller();
  await poll(website(1), deferred(60_000));
  await clock.pass(59_999);
  await due(VRRP, website(1), website(2));
  expect(client.waiting().toSorted()).toEqual(["/api/v1/interface/virtual", "/api/v1/website/2/test"]);
  await clock.pass(1);
  await due(website(1));
  expect(client.waiting()).toContain("/api/v1/website/1/test");
});

test("Retry-After counts for at most five minutes, during which the failure is not stalled", async () => {
  const { clock, client, due, poll, observed } = startHeldPoller();
  await poll(VRRP, deferred(86_400_000));
  expect(observed[0]?.expiresAtMs).toBe(300_000 + 14_000);
  await clock.pass(299_999);
  await due(VRRP);
  expect(client.waiting()).toEqual([]);
  await clock.pass(1);
  await due(VRRP);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("new credentials do not end a Retry-After", async () => {
  const { client, due, poll } = startHeldPoller();
  await poll(VRRP, deferred(60_000));
  client.hasCredentials = true;
  await due(VRRP);
  expect(client.waiting()).toEqual([]);
});

test("an appliance that answers its list with Retry-After is not down: its websites are tested", async () => {
  const { client, due, poll } = startHeldPoller();
  await poll(VRRP, deferred(60_000));
  await due(website(1));
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
});

test("a refused website test does not prevent polls of the list after the backoff", async () => {
  const { clock, client, due, poll, observed } = startHeldPoller();
  await poll(website(1), AUTH);
  await clock.pass(30_000);
  await due(VRRP);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await poll(website(2), SITE_OK);
  expect(observed.map(shortly)).toEqual(["website 1: auth", "vrrp: ok", "website 2: ok"]);
});
