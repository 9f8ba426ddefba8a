import { expect, test } from "vitest";
import { failing, NO_INTERFACES, shortly, startHeldPoller, VRRP, WAF, website } from "./poller-support.ts";

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

test("after a test is refused with newer credentials than the list's, the appliance backs off", async () => {
  const { client, due, poll } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  client.credentials = Symbol("credentials");
  await poll(website(1), AUTH);
  await due(VRRP, website(2));
  expect(client.waiting()).toEqual([]);
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

test("a changed configuration ends the backoff", async () => {
  const { client, due, poll, poller } = startHeldPoller();
  await poll(VRRP, AUTH);
  poller.update({ ...WAF, labels: { site: "ams" } });
  await due(VRRP);
  expect(client.waiting()).toEqual(["/api/v1/interface/virtual"]);
});

test("a website that is removed takes its backoff along", async () => {
  const { client, due, poll, replan } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  await poll(website(1), deferred(300_000));
  replan({ tests: [] });
  replan({ tests: [1] });
  await due(website(1));
  expect(client.waiting()).toEqual(["/api/v1/website/1/test"]);
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

test.each([
  ["a success", NO_INTERFACES, "ok"],
  ["a failure", failing("decode"), "decode"],
])("a result that becomes stale during a backoff ends as refused: %s", async (_, first, word) => {
  const { clock, client, due, poll, observed } = startHeldPoller();
  await poll(VRRP, first);
  client.credentials = Symbol("credentials");
  await poll(website(1), AUTH);
  for (let i = 0; i < 4; i += 1) {
    await clock.pass(5_000);
    await due(VRRP);
  }
  expect(observed.map(shortly)).toEqual([`vrrp: ${word}`, "website 1: auth", "vrrp: auth"]);
  const [list, , ended] = observed;
  expect(clock.monotonicMs()).toBeGreaterThan(list?.expiresAtMs ?? 0);
  expect(ended?.expiresAtMs).toBeGreaterThan(30_000);
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
