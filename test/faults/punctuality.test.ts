import { expect, vi } from "vitest";
import { healthy, silent, silentWebsites } from "./behaviours.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";
import { entry, test } from "./stage.ts";

// Polls come due each second, several times, beside others that hang.
vi.setConfig({ testTimeout: 60_000 });

const LATENESS = "appliance_exporter_poll_lateness_seconds";
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

test.concurrent("fault 15: half the fleet hangs, and the other half is polled whenever it is due", async ({
  stage,
}) => {
  const hanging = await stage.server(silent);
  const good = await stage.server(healthy);
  const exporter = await stage.exporter({
    config: {
      polling: { vrrp: RARELY },
      appliances: [
        ...names("hanging", 10).map((name) => entry(name, hanging)),
        ...names("good", 10).map((name) => entry(name, good)),
      ],
    },
  });
  // Those that hang are under way all the time.
  const samples = await pollTimes(exporter, { appliances: names("good", 10), times: 4, hanging: 10 });
  const failures = samples.all("appliance_poll_failures_total").filter(({ value }) => value > 0);
  expect(failures).toEqual([]);
  expect(hanging.connections()).toBe(10);
});

test.concurrent("fault 15: all websites of an appliance hang, and its list is polled whenever it is due; the wait for slots is shown", async ({
  stage,
}) => {
  const server = await stage.server(silentWebsites);
  const websites = [1, 2, 3, 4, 5, 6, 7, 8];
  const pollingWith = (timeout: string) => ({
    polling: { vrrp: RARELY, websites: { ...RARELY, timeout } },
    appliances: [entry("a", server, { websites })],
  });
  const exporter = await stage.exporter({ config: pollingWith(RARELY.timeout) });
  // Tests hold the four slots all the time.
  const samples = await pollTimes(exporter, {
    appliances: ["a"],
    operation: "vrrp",
    times: 4,
    hanging: 4,
  });
  expect(samples.value("appliance_up")).toBe(1);
  expect(samples.all("appliance_poll_failure_info", { operation: "vrrp" })).toEqual([]);

  const other = await stage.exporter({ config: pollingWith("2s") });
  const scraped = await pollTimes(other, { appliances: ["a"], times: 1 });
  const reasons = scraped.all("appliance_poll_failure_info").map(({ labels }) => labels["reason"]);
  expect(reasons).toEqual(websites.map(() => "timeout"));
  // Eight tests of two seconds: the later four have waited.
  expect(scraped.value(`${LATENESS}_sum`, { operation: "website_test" })).toBeGreaterThan(2);
});
