import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Behaviour, FaultServer } from "../support/fault-server.ts";
import { answer, healthy, LIST, silentWebsites, TEST } from "./behaviours.ts";
import { entry, EVERY_SECOND, test } from "./stage.ts";

/** Healthy, but refuses the test of website 1. */
const refusesOneTest: Behaviour = ({ socket, onRequest }) =>
  onRequest(({ path }) => {
    if (path.endsWith("/1/test")) socket.write(answer("{}", "403 Forbidden"));
    else socket.write(answer(path.endsWith("/test") ? TEST : LIST));
  });

function instantsOf({ requests }: FaultServer, pathEnd: string): readonly number[] {
  return requests.filter(({ path }) => path.endsWith(pathEnd)).map(({ atMs }) => atMs);
}

const FAILURE = "appliance_poll_failure_info";

test.concurrent("fault 41: one website's test is refused: that test alone is sent ever less often, the list and the others go on", async ({
  stage,
}) => {
  const server = await stage.server(refusesOneTest);
  const http_client = { basic_auth: { username: "monitor", password_file: "password" } };
  const program = await stage.program({
    config: {
      polling: { vrrp: EVERY_SECOND, websites: EVERY_SECOND },
      http_client,
      appliances: [entry("a", server, { websites: [1, 2] })],
    },
    files: { password: "secret" },
  });
  const refusedMs = await eventually(
    () => {
      const instants = instantsOf(server, "/1/test");
      return instants.length >= 4 ? instants : Promise.reject(new Error("fewer than four refusals"));
    },
    { timeoutMs: 40_000 },
  );
  const gaps = refusedMs.slice(1, 4).map((atMs, nth) => (atMs - (refusedMs[nth] ?? 0)) / 1000);
  expect(gaps.map((gap, nth) => gap > 2 ** nth - 0.05)).toEqual([true, true, true]);

  const samples = await eventually(async () => {
    const latest = await program.scrape();
    expect(latest.value("appliance_up")).toBe(1);
    return latest;
  });
  expect(samples.value("appliance_exporter_poll_failures_total", { operation: "vrrp", reason: "auth" })).toBe(
    0,
  );
  expect(samples.all(FAILURE).map(({ labels }) => [labels["website_id"], labels["reason"]])).toEqual([
    ["1", "auth"],
  ]);
  // Within the seven seconds of the three pauses both were polled each second.
  const [firstMs = 0, , , fourthMs = 0] = refusedMs;
  for (const path of ["/interface/virtual", "/2/test"]) {
    const between = instantsOf(server, path).filter((atMs) => atMs > firstMs && atMs < fourthMs);
    expect(between.length).toBeGreaterThanOrEqual(4);
  }
});

test.concurrent("fault 42: hanging websites of one appliance take the slots: those of the others are tested in time, and nothing is `stalled`", async ({
  stage,
}) => {
  const hog = await stage.server(silentWebsites);
  const good = await stage.server(healthy);
  const websites = Array.from({ length: 20 }, (_, nth) => nth + 1);
  const exporter = await stage.exporter({
    config: {
      polling: {
        vrrp: EVERY_SECOND,
        // A result counts for two intervals: long enough for the stalls of a busy machine.
        websites: { interval: "8s", timeout: "1s" },
        max_concurrent_website_tests: 1,
        max_concurrent_website_tests_per_appliance: 1000,
      },
      appliances: [entry("hog", hog, { websites }), entry("good", good, { websites: [1] })],
    },
  });
  const tests = { appliance: "good", operation: "website_test" };
  const seen = new Set<string>();
  await eventually(
    async () => {
      const samples = await exporter.scrape();
      for (const { labels } of samples.all(FAILURE)) seen.add(`${labels["appliance"]}: ${labels["reason"]}`);
      expect(samples.value("appliance_polls_total", tests)).toBeGreaterThanOrEqual(3);
      expect(seen).toContain("hog: local");
    },
    { timeoutMs: 120_000, everyMs: 100 },
  );
  expect([...seen].toSorted()).toEqual(["hog: local", "hog: timeout"]);
  const details = exporter.log.lines.flatMap(({ reason, detail }) => (reason === "local" ? [detail] : []));
  expect(details[0]).toMatch(/^not sent: it waited \d+ s for a free slot \(max_concurrent_website_tests\)$/);
});
