import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import type { Behaviour } from "../support/fault-server.ts";
import type { Samples } from "../support/samples.ts";
import { answer, healthy, LIST, silent, silentWebsites } from "./behaviours.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

const IMPATIENT = { interval: "1s", timeout: "900ms" };
const LATENESS = "appliance_exporter_poll_lateness_seconds";
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** A scrape after `polls` polls of the list of `appliance`. */
function afterPolls(exporter: ExporterUnderTest, appliance: string, polls: number): Promise<Samples> {
  return eventually(
    async () => {
      const scraped = await exporter.scrape();
      const made = scraped.value("appliance_polls_total", { appliance, operation: "vrrp" });
      expect(made).toBeGreaterThanOrEqual(polls);
      return scraped;
    },
    { everyMs: 100 },
  );
}

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
  const samples = await pollTimes(exporter, { appliances: names("good", 10), times: 6, hanging: 10 });
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
    times: 6,
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

test.concurrent("fault 15: website tests of an appliance that cannot be reached are not sent", async ({
  stage,
}) => {
  const server = await stage.server(silent);
  const polling = { vrrp: IMPATIENT, websites: EVERY_SECOND };
  const exporter = await stage.exporter({
    config: { polling, appliances: [entry("a", server, { websites: [1, 2] })] },
  });
  const samples = await afterPolls(exporter, "a", 4);
  const tests = samples.all("appliance_poll_failure_info", { operation: "website_test" });
  expect(tests.map(({ labels }) => labels["reason"])).toEqual(["appliance_down", "appliance_down"]);
  expect(server.requests.filter(({ path }) => path.endsWith("/test"))).toEqual([]);
});

test.concurrent("fault 25: a test that still waits for its slot when it is due again is skipped and counted; no two are in flight", async ({
  stage,
}) => {
  const watch = watchOverlaps();
  const server = await stage.server(watch.behaviour);
  const polling = {
    vrrp: EVERY_SECOND,
    websites: EVERY_SECOND,
    max_concurrent_website_tests_per_appliance: 1,
  };
  const appliances = [entry("a", server, { websites: [1, 2, 3] })];
  const exporter = await stage.exporter({ config: { polling, appliances } });
  const samples = await afterPolls(exporter, "a", 8);
  expect(samples.value("appliance_exporter_polls_skipped_total", { reason: "overlap" })).toBeGreaterThan(0);
  expect(watch.mostAtOnce("/api/v1/interface/virtual")).toBe(1);
  for (const id of [1, 2, 3]) expect(watch.mostAtOnce(`/api/v1/website/${id}/test`)).toBe(1);
});

/** Never answers website tests, and counts the requests for each path that are in flight at once. */
function watchOverlaps(): { readonly behaviour: Behaviour; mostAtOnce(path: string): number | undefined } {
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const add = (path: string, count: number): void => {
    const next = (now.get(path) ?? 0) + count;
    now.set(path, next);
    most.set(path, Math.max(next, most.get(path) ?? 0));
  };
  return {
    behaviour: ({ socket, onRequest }) =>
      onRequest(({ path }) => {
        add(path, 1);
        if (path.endsWith("/test")) socket.once("close", () => add(path, -1));
        else socket.write(answer(LIST), () => add(path, -1));
      }),
    mostAtOnce: (path) => most.get(path),
  };
}
