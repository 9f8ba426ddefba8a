import { afterAll, beforeAll, expect, test } from "vitest";
import { byName, type Alertmanager } from "../support/alertmanager-server.ts";
import { startExample } from "./amtool.ts";
import { foreign, OUTAGES } from "./inhibitions.ts";

let alertmanager: Alertmanager;

beforeAll(async () => {
  alertmanager = await startExample();
});

afterAll(async () => {
  await alertmanager.stop();
});

test.for(OUTAGES.map((each) => [each.name, each] as const))(
  "one message of one outage: %s",
  async ([, { told, silenced, besides }]) => {
    const { fire, told: tell } = alertmanager;
    const telling = async () => byName(await tell());
    await fire(...told, ...besides, ...silenced);
    await expect.poll(telling).toEqual(byName([...told, ...besides]));
    // By itself it would be told.
    const first = silenced.slice(0, 1);
    await fire(...first);
    await expect.poll(telling).toEqual(byName(first));
  },
);

test.for(OUTAGES.map((each) => [each.name, each] as const))(
  "alerts of others, which lack our label, stay told: %s",
  async ([, { told, silenced }]) => {
    const { fire, told: tell } = alertmanager;
    const others = silenced.map(foreign);
    await fire(...told, ...others);
    const telling = async () => byName(await tell());
    await expect.poll(telling, { timeout: 10_000 }).toEqual(byName([...told, ...others]));
  },
);
