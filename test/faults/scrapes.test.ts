import { expect, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";
import type { Behaviour } from "../support/fault-server.ts";
import type { Samples } from "../support/samples.ts";
import { answer, healthy } from "./behaviours.ts";
import { callTimes, type Caller } from "./callers.ts";
import { entry, test, type Stage } from "./stage.ts";

// Headers that drip are cut off after seconds, and a thousand connections are opened.
vi.setConfig({ testTimeout: 60_000 });

/** A scrape gets in, and its whole answer comes; how quickly is a matter for a benchmark. */
async function expectScrape({ url }: ExporterUnderTest): Promise<void> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("\nappliance_polls_total{");
}

async function startSmall(stage: Stage): Promise<ExporterUnderTest> {
  const server = await stage.server(healthy);
  // Polled once, so that no later poll logs anything.
  const vrrp = { interval: "1h", timeout: "1h" };
  return stage.exporter({ config: { polling: { vrrp }, appliances: [entry("a", server)] } });
}

const INTERFACES = 50;

/** MASTER, BACKUP, failure, and so on, a list for each request; the first answer is MASTER. */
function inThreeTurns(): Behaviour {
  const lists = ["MASTER", "BACKUP"].map((state_current) => {
    const priority = state_current === "MASTER" ? "200" : "100";
    const one = {
      vhid: "1",
      vip: "192.0.2.1",
      state_current,
      priority,
      advskew: String(254 - Number(priority)),
    };
    return answer(
      JSON.stringify(Object.fromEntries(Array.from({ length: INTERFACES }, (_, nth) => [`carp${nth}`, one]))),
    );
  });
  const turns = [...lists, answer("", "500 Internal Server Error")];
  let turn = 0;
  return ({ socket, onRequest }) =>
    onRequest(() => {
      socket.write(turns[turn % turns.length] ?? "");
      turn += 1;
    });
}

/** What must be on /metrics after so many polls of an appliance that answers in three turns. */
function expectedAfter(polls: number): readonly unknown[] {
  if (polls === 0) return [undefined, [], [], []];
  if (polls % 3 === 0) return [0, [], [], ["http_status"]];
  const isMaster = polls % 3 === 1;
  return [1, Array(INTERFACES).fill(isMaster ? 1 : 0), Array(INTERFACES).fill(isMaster ? 200 : 100), []];
}

function pictureOf(samples: Samples, appliance: string): readonly unknown[] {
  return [
    samples.value("appliance_up", { appliance }),
    samples.all("vrrp_is_master", { appliance }).map(({ value }) => value),
    samples.all("vrrp_priority", { appliance }).map(({ value }) => value),
    samples.all("appliance_poll_failure_info", { appliance }).map(({ labels }) => labels["reason"]),
  ];
}

test.concurrent("fault 22: whatever is scraped while polls end belongs to one poll", async ({ stage }) => {
  const names = Array.from({ length: 10 }, (_, nth) => `a-${nth}`);
  const servers = await Promise.all(names.map(() => stage.server(inThreeTurns())));
  const appliances = names.map((name, nth) => entry(name, servers[nth] ?? { port: 0 }));
  const exporter = await stage.exporter({ config: { polling: { vrrp: RARELY }, appliances } });
  const over = new AbortController();
  const polled = pollTimes(exporter, { appliances: names, times: 4 }).finally(() => over.abort());
  while (!over.signal.aborted) {
    const samples = await exporter.scrape();
    const polls = names.map(
      (appliance) => samples.value("appliance_polls_total", { appliance }) ?? Number.NaN,
    );
    expect(names.map((appliance) => pictureOf(samples, appliance))).toEqual(polls.map(expectedAfter));
  }
  await polled;
});

test.concurrent("fault 31: slowloris: headers that drip are cut off, scrapes are answered", async ({
  stage,
}) => {
  const exporter = await startSmall(stage);
  const callers = await callTimes(stage, exporter, 50);
  const drip = setInterval(() => {
    for (const { socket } of callers) socket.write("X");
  }, 100);
  stage.cleanUp(() => clearInterval(drip));
  for (const { socket } of callers) socket.write("GET /metrics HTTP/1.1\r\n");
  await expectScrape(exporter);
  await eventually(() => expect(callers.every(({ socket }) => socket.closed)).toBe(true));
});

test.concurrent("fault 31: 1,000 idle connections: the oldest are let go, scrapes are answered", async ({
  stage,
}) => {
  const exporter = await startSmall(stage);
  const callers = await callTimes(stage, exporter, 1000);
  await expectScrape(exporter);
  await eventually(() => {
    const open = callers.filter(({ socket }) => !socket.closed);
    expect(open.length).toBeLessThanOrEqual(512);
    expect(open.length).toBeGreaterThan(400);
    expect(callers[0]?.socket.closed).toBe(true);
  });
});

test.concurrent("fault 34: wrong methods, garbage and huge URLs get a 4xx or an end, and no line in the log", async ({
  stage,
}) => {
  const exporter = await startSmall(stage);
  await eventually(async () => expect((await exporter.scrape()).value("appliance_up")).toBe(1));
  const lines = exporter.log.lines.filter(({ level }) => level !== "debug").length;
  for (const [request, status] of BAD_REQUESTS) {
    const callers = await callTimes(stage, exporter, 20);
    for (const { socket } of callers) socket.write(request);
    await eventually(() => expect(new Set(callers.map(statusOf))).toEqual(new Set([status])));
    await eventually(() => expect(callers.every(({ socket }) => socket.closed)).toBe(true));
  }
  expect(exporter.log.lines.filter(({ level }) => level !== "debug").length).toBe(lines);
  await expectScrape(exporter);
});

function statusOf({ received }: Caller): string {
  return received().split("\r\n")[0] ?? "";
}

const BAD_REQUESTS: readonly (readonly [string, string])[] = [
  ["POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"],
  ["DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"],
  ["GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request"],
  ["GET /metrics HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", "HTTP/1.1 400 Bad Request"],
  ["GET /-/healthy HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request"],
  ["\x16\x03\x01\x02\x00\x01\x00\x01", "HTTP/1.1 400 Bad Request"],
  ["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 400 Bad Request"],
  [`GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, "HTTP/1.1 431 Request Header Fields Too Large"],
];
