import { expect, test } from "vitest";
import { createFleet } from "../../../src/exporter/fleet/fleet.ts";
import { startRunner } from "../../../src/exporter/polling/runner.ts";
import type { Observation, PollEvents } from "../../../src/exporter/polling/observation.ts";
import { applianceOf, configOf } from "../../support/observations.ts";
import { holdClock } from "./held-clock.ts";
import {
  bodyOf,
  failing,
  fakeClient,
  NO_EVENTS,
  NO_INTERFACES,
  shortly,
  VRRP_PATH,
} from "./poller-support.ts";

const WAF = applianceOf({ name: "waf", discovery: { exclude: [], limit: 200 } });
const okay = (value: unknown) => ({ ok: true, value: bodyOf(JSON.stringify(value)) }) as const;

/** A runner whose plans come from a real fleet. */
function startDiscovery() {
  const [clock, fleet, client] = [holdClock(), createFleet(), fakeClient()];
  const observed: Observation[] = [];
  const runner = startRunner({
    clock,
    onClockJump: () => {},
    operationsOf: ({ name }) => fleet.operations(name),
  });
  const events: PollEvents = {
    ...NO_EVENTS,
    observed: (observation) => {
      observed.push(observation);
      fleet.record(observation, clock.monotonicMs());
      runner.replan(observation.appliance);
    },
  };
  fleet.configure(configOf(WAF), 0);
  void runner.prepare(configOf(WAF), () => client, events)();
  return { clock, client, observed };
}

async function listed(ids: readonly number[]) {
  const started = startDiscovery();
  const { clock, client } = started;
  await clock.pass(1_001);
  await client.answer(VRRP_PATH, NO_INTERFACES);
  await clock.pass(1_000);
  await client.answer("/api/v1/website", okay(ids));
  await clock.pass(1_000);
  return started;
}

test("the list is polled in time, although the details of one website hang and 199 others wait", async () => {
  const { clock, client } = await listed(Array.from({ length: 200 }, (_, nth) => nth + 1));
  await clock.pass(450_000);
  const requests = client.waiting().filter((each) => each.startsWith("/api/v1/website"));
  expect(requests).toEqual([expect.stringMatching(/website\/\d+$/), "/api/v1/website"]);
});

test("details are requested one after another, and never hold up the VRRP list", async () => {
  const { clock, client, observed } = await listed([1, 2, 3]);
  expect(client.waiting()).toHaveLength(1);
  await clock.pass(10_000);
  expect(client.waiting()).toHaveLength(2);
  expect(client.waiting()).toContain("/api/v1/interface/virtual");
  for (const _ of [1, 2, 3]) {
    const path = client.waiting().find((each) => each.includes("/website/"));
    await client.answer(path ?? "none", okay({ status: "0" }));
  }
  expect(
    observed
      .map(shortly)
      .filter((line) => line.startsWith("website_details"))
      .toSorted(),
  ).toEqual(["website_details/1: ok", "website_details/2: ok", "website_details/3: ok"]);
});

test("a refusal ends the round: the other details are not requested", async () => {
  const { clock, client, observed } = await listed([1, 2, 3]);
  const [path = ""] = client.waiting();
  await client.answer(path, failing("auth", { status: 403 }));
  await clock.pass(60_000);
  expect(client.waiting().filter((each) => each.includes("/website"))).toEqual([]);
  expect(
    observed.map(shortly).filter((line) => line.includes("details") && line.endsWith("auth")),
  ).toHaveLength(3);
});

test("later rounds are spread over the interval", async () => {
  const ids = Array.from({ length: 20 }, (_, nth) => nth + 1);
  const { clock, client } = await listed(ids);
  const answerAll = async (): Promise<number> => {
    let count = 0;
    for (;;) {
      const path = client.waiting().find((each) => each.includes("/website/"));
      if (path === undefined) return count;
      await client.answer(path, okay({ status: "0" }));
      count += 1;
    }
  };
  expect(await answerAll()).toBe(20);
  const perMinute: number[] = [];
  for (let minute = 0; minute < 15; minute += 1) {
    await clock.pass(60_000);
    for (const path of client.waiting().filter((each) => each.endsWith("/virtual")))
      await client.answer(path, NO_INTERFACES);
    for (const path of client.waiting().filter((each) => each.endsWith("/website")))
      await client.answer(path, okay(ids));
    perMinute.push(await answerAll());
  }
  expect(Math.max(...perMinute)).toBeLessThan(15);
});
