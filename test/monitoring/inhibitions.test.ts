import { afterAll, beforeAll, expect, test } from "vitest";
import { byName, type Alertmanager } from "../support/alertmanager-server.ts";
import { startExample } from "./amtool.ts";
import { OUTAGES } from "./inhibitions.ts";

let alertmanager: Alertmanager | string;

beforeAll(async () => {
  alertmanager = await startExample();
});

afterAll(async () => {
  if (typeof alertmanager !== "string") await alertmanager.stop();
});

test.for(OUTAGES.map((each) => [each.name, each] as const))(
  "one message of one outage: %s",
  async ([, { told, silenced, besides }], { skip }) => {
    const { fire, told: tell } = typeof alertmanager === "string" ? skip(alertmanager) : alertmanager;
    const telling = async () => byName(await tell());
    await fire(...told, ...besides, ...silenced);
    await expect.poll(telling).toEqual(byName([...told, ...besides]));
    // By itself it would be told.
    const first = silenced.slice(0, 1);
    await fire(...first);
    await expect.poll(telling).toEqual(byName(first));
  },
);
