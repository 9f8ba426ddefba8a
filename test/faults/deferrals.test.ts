import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/exporter.ts";
import type { Behaviour, FaultServer } from "../support/fault-server.ts";
import { createLeapingClock } from "../support/leaping-clock.ts";
import { answer, answers, healthy, LIST, TEST } from "./behaviours.ts";
import { entry, EVERY_SECOND, PATIENT, test } from "./stage.ts";
import { startRig } from "./rig.ts";

const POLLING = { vrrp: EVERY_SECOND, websites: EVERY_SECOND };
const LIST_PATH = "/api/v1/interface/virtual";
const TEST_PATH = "/api/v1/website/1/test";

/** Healthy, save that requests for one path are told to come later. */
function defers(deferred: string, status: string, retryAfter: () => string): Behaviour {
  return (connection) => {
    const { socket, onRequest } = connection;
    onRequest(({ path }) => {
      if (path === deferred) socket.write(answer("", status, [`Retry-After: ${retryAfter()}`]));
      else if (path === LIST_PATH) socket.write(answer(LIST));
      else socket.write(answer(TEST));
    });
  };
}

function dateIn4Seconds(): string {
  return new Date(Date.now() + 4000).toUTCString();
}

function countOf({ requests }: FaultServer, wanted: string): number {
  return requests.filter(({ path }) => path === wanted).length;
}

/** Seconds between requests for one path. */
function gapsOf({ requests }: FaultServer, wanted: string): readonly number[] {
  const times = requests.filter(({ path }) => path === wanted).map(({ atMs }) => atMs);
  return times.slice(1).map((atMs, index) => (atMs - (times[index] ?? Number.NaN)) / 1000);
}

test.concurrent("fault 9: 429 with Retry-After in seconds: the list is asked for no sooner, website tests go on", async ({
  stage,
}) => {
  const server = await stage.server(defers(LIST_PATH, "429 Too Many Requests", () => "3"));
  const exporter = await stage.exporter({
    config: { polling: POLLING, appliances: [entry("a", server, { websites: [1] })] },
  });
  await eventually(async () => {
    expect(countOf(server, LIST_PATH)).toBeGreaterThanOrEqual(3);
    expect(countOf(server, TEST_PATH)).toBeGreaterThan(countOf(server, LIST_PATH));
    const samples = await exporter.scrape();
    const failures = samples.all("appliance_poll_failure_info");
    expect(failures.map(({ labels }) => [labels["operation"], labels["reason"]])).toEqual([
      ["vrrp", "http_status"],
    ]);
    const skipped = samples.value("appliance_exporter_polls_skipped_total", { reason: "backoff" });
    expect(skipped).toBeGreaterThanOrEqual(3);
  });
  for (const gap of gapsOf(server, LIST_PATH)) expect(gap).toBeGreaterThan(2.9);
});

test.concurrent("fault 9: 503 with Retry-After as a date: the website test waits for it, the list does not", async ({
  stage,
}) => {
  const server = await stage.server(defers(TEST_PATH, "503 Service Unavailable", dateIn4Seconds));
  await stage.exporter({
    config: { polling: POLLING, appliances: [entry("a", server, { websites: [1] })] },
  });
  await eventually(() => {
    expect(countOf(server, TEST_PATH)).toBeGreaterThanOrEqual(3);
    expect(countOf(server, LIST_PATH)).toBeGreaterThan(countOf(server, TEST_PATH));
  });
  // The date has whole seconds.
  for (const gap of gapsOf(server, TEST_PATH)) expect(gap).toBeGreaterThan(2.9);
});

test.concurrent("fault 9: a Retry-After that cannot be read defers nothing", async ({ stage }) => {
  const server = await stage.server(defers(LIST_PATH, "429 Too Many Requests", () => "-3600"));
  const exporter = await stage.exporter({
    config: { polling: POLLING, appliances: [entry("a", server)] },
  });
  await eventually(() => expect(countOf(server, LIST_PATH)).toBeGreaterThanOrEqual(4));
  const skipped = "appliance_exporter_polls_skipped_total";
  expect((await exporter.scrape()).value(skipped, { reason: "backoff" })).toBe(0);
});

test.concurrent("fault 9: a Retry-After of a day is honoured for five minutes", async ({ stage }) => {
  const aDay = ["Retry-After: 86400"];
  const server = await stage.server(answers("", "503 Service Unavailable", aDay));
  const neighbour = await stage.server(healthy);
  const appliances = [entry("a", server), entry("b", neighbour)];
  const folder = await stage.folder({ config: { polling: { vrrp: PATIENT }, appliances } });
  const clock = createLeapingClock();
  const rig = await startRig({ folder, clock });
  stage.cleanUp(rig.stop);
  await eventually(async () => {
    const failures = (await scrape(rig.url)).all("appliance_poll_failure_info");
    expect(failures.map(({ labels }) => labels["reason"])).toEqual(["http_status"]);
  });
  clock.leap(150_000);
  const polls = neighbour.requests.length;
  await eventually(() => expect(neighbour.requests.length).toBeGreaterThanOrEqual(polls + 3));
  expect(server.requests.length).toBe(1);
  clock.leap(150_000);
  await eventually(() => expect(server.requests.length).toBe(2));
});
