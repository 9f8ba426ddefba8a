import { expect, test } from "vitest";

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

test("what is asked for is answered, and observed only where that is wished", async () => {
  const quiet = startHeldPoller();
  const answer = quiet.poller.ask(VRRP);
  await settle();
  await quiet.client.answer(VRRP_PATH, NO_INTERFACES);
  expect((await answer)?.outcome.ok).toBe(true);
  expect(quiet.observed).toEqual([]);

  const told = startHeldPoller(WAF, { observesAsked: true });
  const same = told.poller.ask(VRRP);
  await settle();
  await told.client.answer(VRRP_PATH, NO_INTERFACES);
  expect(told.observed).toEqual([await same]);
});

test("a poll that is due while one was asked for joins it, and is observed once", async () => {
  const { poller, client, due, observed, skipped } = startHeldPoller();
  const answer = poller.ask(VRRP);
  await settle();
  await due(VRRP);
  expect(client.waiting()).toHaveLength(1);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(observed).toEqual([await answer]);
  expect(skipped).toEqual([]);
});

test("who asks while a poll is in flight gets what comes of it", async () => {
  const { poller, client, due, observed } = startHeldPoller();
  await due(VRRP);
  const answers = [poller.ask(VRRP), poller.ask(VRRP)];
  await settle();
  expect(client.waiting()).toHaveLength(1);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  const [observation] = observed;
  expect(await Promise.all(answers)).toEqual([observation, observation]);
});

test("what rests is answered from why it rests, without being sent or counted", async () => {
  const { poller, client, poll, skipped } = startHeldPoller();
  await poll(website(1), failing("http_status", { status: 503, retryAfterMs: 60_000 }));
  const deferred = await poller.ask(website(1));
  expect(deferred && shortly(deferred)).toBe("website 1: http_status");
  await poll(website(2), failing("auth"));
  const refused = await poller.ask(VRRP);
  expect(refused && shortly(refused)).toBe("vrrp: auth");
  expect(client.waiting()).toEqual([]);
  expect(skipped).toEqual([]);
});

test("a Retry-After outlasts a refusal whose pause is over, and is named then", async () => {
  const { clock, poller, poll } = startHeldPoller();
  await poll(VRRP, failing("auth"));
  await clock.pass(5_000);
  await poll(VRRP, failing("http_status", { status: 503, retryAfterMs: 60_000 }));
  const observation = await poller.ask(VRRP);
  expect(observation && shortly(observation)).toBe("vrrp: http_status");
});

test("a pause that an asked poll brings about holds for polls that are due", async () => {
  const { poller, client, due, skipped } = startHeldPoller();
  const answer = poller.ask(VRRP);
  await settle();
  await client.answer(VRRP_PATH, failing("auth"));
  await answer;
  await due(VRRP);
  expect(client.waiting()).toEqual([]);
  expect(skipped).toEqual([{ kind: "vrrp", reason: "backoff", count: 1 }]);
});

test("an appliance that is down is known to be, and its tests are answered unsent", async () => {
  const { poller, client, poll } = startHeldPoller();
  expect(poller.isDown()).toBe(false);
  await poll(VRRP, failing("connect"));
  expect(poller.isDown()).toBe(true);
  const observation = await poller.ask(website(1));
  expect(observation && shortly(observation)).toBe("website 1: appliance_down");
  expect(client.waiting()).toEqual([]);
});

test("a list that was only asked for takes no website test away that is due, nor begins any", async () => {
  const { poller, client, poll, due, polled, observed } = startHeldPoller();
  await poll(VRRP, NO_INTERFACES);
  const asked = poller.ask(VRRP);
  await settle();
  await client.answer(VRRP_PATH, failing("connect"));
  await asked;
  await due(website(1));
  expect(client.waiting()).toHaveLength(1);
  expect(polled).toEqual([false]);
  expect(observed.map(shortly)).toEqual(["vrrp: ok"]);
  // Whoever asks goes by the latest list, whoever it was for.
  const observation = await poller.ask(website(2));
  expect(observation && shortly(observation)).toBe("website 2: appliance_down");
});

test("a list that was only asked for lets tests through that are asked for, and none that is due", async () => {
  const { poller, client, poll, due, polled, observed } = startHeldPoller();
  await poll(VRRP, failing("connect"));
  const asked = poller.ask(VRRP);
  await settle();
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await asked;
  await due(website(1));
  const answer = poller.ask(website(2));
  await settle();
  await client.answer(sitePath(2), SITE_OK);
  expect((await answer)?.outcome.ok).toBe(true);
  expect(observed.map(shortly)).toEqual(["vrrp: connect", "website 1: appliance_down"]);
  expect(polled).toEqual([false]);
});

test("who asks while the configuration changes is answered by the new client", async () => {
  const { poller, client } = startHeldPoller();
  const answer = poller.ask(website(1));
  await settle();
  const next = fakeClient();
  poller.update(WAF, next);
  await client.answer(sitePath(1), failing("internal"));
  await next.answer(sitePath(1), SITE_OK);
  const observation = await answer;
  expect(observation && shortly(observation)).toBe("website 1: ok");
});

test("who asks an appliance or for a website that is taken away gets nothing", async () => {
  const { poller, client } = startHeldPoller();
  expect(await poller.ask(website(99))).toBeUndefined();
  const answer = poller.ask(VRRP);
  await settle();
  poller.close();
  await client.answer(VRRP_PATH, NO_INTERFACES);
  expect(await answer).toBeUndefined();
  expect(await poller.ask(VRRP)).toBeUndefined();
});
