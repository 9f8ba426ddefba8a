import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import type { Behaviour } from "../support/fault-server.ts";
import type { Samples } from "../support/samples.ts";
import { answer, answers, healthy, LIST, silent, silentWebsites } from "./behaviours.ts";
import { entry, EVERY_SECOND, type Proof } from "./proof.ts";

const IMPATIENT = { interval: "1s", timeout: "900ms" };
const LATENESS = "appliance_exporter_poll_lateness_seconds";
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** A scrape after `polls` polls of the list of `appliance`, and how long it took to get there. */
async function afterPolls(exporter: ExporterUnderTest, appliance: string, polls: number) {
  const startedMs = performance.now();
  const samples = await eventually(
    async () => {
      const scraped = await exporter.scrape();
      const made = scraped.value("appliance_polls_total", { appliance, operation: "vrrp" });
      expect(made).toBeGreaterThanOrEqual(polls);
      return scraped;
    },
    { timeoutMs: 25_000, everyMs: 100 },
  );
  return { samples, seconds: (performance.now() - startedMs) / 1000 };
}

/** Polled each second and never in vain; the first second and a busy machine's are given away. */
function expectOnTime(samples: Samples, appliance: string, seconds: number): void {
  const labels = { appliance, operation: "vrrp" };
  expect(samples.value("appliance_polls_total", labels)).toBeGreaterThanOrEqual(Math.floor(seconds) - 2);
  expect(samples.value("appliance_poll_failures_total", labels)).toBe(0);
}

export const PROOFS_OF_PUNCTUALITY: readonly Proof[] = [
  {
    fault: 15,
    name: "half the fleet hangs, and the other half is polled each second",
    prove: async (stage) => {
      const hanging = await stage.server(silent);
      const good = await stage.server(healthy);
      const exporter = await stage.exporter({
        config: {
          polling: { vrrp: IMPATIENT },
          appliances: [
            ...names("hanging", 10).map((name) => entry(name, hanging)),
            ...names("good", 10).map((name) => entry(name, good)),
          ],
        },
      });
      const { samples, seconds } = await afterPolls(exporter, "good-0", 6);
      for (const name of names("good", 10)) expectOnTime(samples, name, seconds);
      for (const appliance of names("hanging", 10)) {
        expect(samples.value("appliance_poll_failure_info", { appliance, reason: "timeout" })).toBe(1);
      }
      const started = samples.value(`${LATENESS}_count`, { operation: "vrrp" });
      expect(started).toBeGreaterThan(60);
      expect(samples.value(`${LATENESS}_bucket`, { operation: "vrrp", le: "1" })).toBe(started);
    },
  },
  {
    fault: 15,
    name: "all websites of an appliance hang, and its list is polled each second; the wait for slots is shown",
    prove: async (stage) => {
      const server = await stage.server(silentWebsites);
      const websites = [1, 2, 3, 4, 5, 6, 7, 8];
      const polling = { vrrp: EVERY_SECOND, websites: { interval: "2s", timeout: "2s" } };
      const exporter = await stage.exporter({
        config: { polling, appliances: [entry("a", server, { websites })] },
      });
      const { samples, seconds } = await afterPolls(exporter, "a", 7);
      expectOnTime(samples, "a", seconds);
      expect(samples.value("appliance_up")).toBe(1);
      const reasons = samples.all("appliance_poll_failure_info").map(({ labels }) => labels["reason"]);
      expect([...new Set(reasons)]).toEqual(["timeout"]);
      // Four slots, eight tests of two seconds: the later four have waited.
      expect(samples.value(`${LATENESS}_sum`, { operation: "website_test" })).toBeGreaterThan(2);
    },
  },
  {
    fault: 15,
    name: "website tests of an appliance that cannot be reached are not sent",
    prove: async (stage) => {
      const server = await stage.server(silent);
      const polling = { vrrp: IMPATIENT, websites: EVERY_SECOND };
      const exporter = await stage.exporter({
        config: { polling, appliances: [entry("a", server, { websites: [1, 2] })] },
      });
      const { samples } = await afterPolls(exporter, "a", 4);
      const tests = samples.all("appliance_poll_failure_info", { operation: "website_test" });
      expect(tests.map(({ labels }) => labels["reason"])).toEqual(["appliance_down", "appliance_down"]);
      expect(server.requests.filter(({ path }) => path.endsWith("/test"))).toEqual([]);
    },
  },
  {
    fault: 21,
    name: "an answer of 100,000 interfaces harms nobody else",
    prove: async (stage) => {
      const members = Object.fromEntries(names("carp", 100_000).map((name) => [name, {}]));
      const huge = await stage.server(answers(JSON.stringify(members)));
      const good = await stage.server(healthy);
      const appliances = [entry("huge", huge), ...names("good", 5).map((name) => entry(name, good))];
      const exporter = await stage.exporter({ config: { polling: { vrrp: EVERY_SECOND }, appliances } });
      const { samples, seconds } = await afterPolls(exporter, "good-0", 5);
      for (const name of names("good", 5)) expectOnTime(samples, name, seconds);
      expect(samples.value("appliance_poll_failure_info", { appliance: "huge", reason: "too_large" })).toBe(
        1,
      );
    },
  },
  {
    fault: 25,
    name: "a test that still waits for its slot when it is due again is skipped and counted; no two are in flight",
    prove: async (stage) => {
      const watch = watchOverlaps();
      const server = await stage.server(watch.behaviour);
      const polling = {
        vrrp: EVERY_SECOND,
        websites: EVERY_SECOND,
        max_concurrent_website_tests_per_appliance: 1,
      };
      const appliances = [entry("a", server, { websites: [1, 2, 3] })];
      const exporter = await stage.exporter({ config: { polling, appliances } });
      const { samples } = await afterPolls(exporter, "a", 8);
      expect(samples.value("appliance_exporter_polls_skipped_total", { reason: "overlap" })).toBeGreaterThan(
        0,
      );
      expect(watch.mostAtOnce("/api/v1/interface/virtual")).toBe(1);
      for (const id of [1, 2, 3]) expect(watch.mostAtOnce(`/api/v1/website/${id}/test`)).toBe(1);
    },
  },
];

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
