import { expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { ExporterUnderTest } from "../support/exporter.ts";
import { answers, healthy } from "./behaviours.ts";
import { bodyOf, callTimes, countEstablished, isComplete, statusOf } from "./callers.ts";
import type { Program } from "./program.ts";
import { entry, test, type Stage } from "./stage.ts";

const SCRAPE = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

/** A scrape gets in, and its whole answer comes; how quickly is a matter for a benchmark. */
async function expectScrape({ url }: Pick<Program, "url">): Promise<void> {
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

/** A process of its own, whose scrapes are larger than what the kernel buffers for a client that does not read. */
async function startLarge(stage: Stage): Promise<Program> {
  const one = { vhid: "1", vip: "192.0.2.1", state_current: "MASTER", priority: "200", advskew: "54" };
  const list = Object.fromEntries(Array.from({ length: 1024 }, (_, nth) => [`carp${nth}`, one]));
  const server = await stage.server(answers(JSON.stringify(list)));
  // Polled once, and never too late.
  const vrrp = { interval: "1h", timeout: "1h" };
  const appliances = Array.from({ length: 12 }, (_, nth) => entry(`a${nth}`, server));
  const program = await stage.program({ config: { polling: { vrrp }, appliances } });
  await eventually(async () => expect((await fetch(`${program.url}/-/ready`)).status).toBe(200));
  return program;
}

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

test.concurrent("fault 31: clients that never read are cut off, scrapes are answered", async ({ stage }) => {
  const exporter = await startLarge(stage);
  const callers = await callTimes(stage, exporter, 10);
  for (const { socket } of callers) {
    socket.pause();
    socket.write(SCRAPE);
  }
  // The first look for silence may still see the progress made before it; the second one ends the connection.
  const areCutOff = async (): Promise<void> => {
    await expectScrape(exporter);
    expect(countEstablished(callers, exporter)).toBe(0);
  };
  await eventually(areCutOff, { everyMs: 1000 });
});

test.concurrent("fault 31: clients that ask for 100 scrapes each and never read do not take the places of others", async ({
  stage,
}) => {
  const exporter = await startLarge(stage);
  const callers = await callTimes(stage, exporter, 5);
  for (const { socket } of callers) {
    socket.pause();
    socket.write(SCRAPE.repeat(100));
  }
  for (let nth = 0; nth < 5; nth += 1) await expectScrape(exporter);
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

test.concurrent("fault 32: 50 scrapes at once are answered by one rendering", async ({ stage }) => {
  const exporter = await startSmall(stage);
  const callers = await callTimes(stage, exporter, 50);
  for (const { socket } of callers) socket.write(SCRAPE);
  await eventually(() => expect(callers.filter(isComplete).length).toBe(50));
  expect(new Set(callers.map(statusOf))).toEqual(new Set(["HTTP/1.1 200 OK"]));
  // Each rendering tells the CPU time used so far.
  expect(new Set(callers.map(bodyOf)).size).toBe(1);
});

test.concurrent("fault 32: of 200 scrapes at once at least 100 are answered, the others get 503", async ({
  stage,
}) => {
  const exporter = await startSmall(stage);
  const callers = await callTimes(stage, exporter, 200);
  for (const { socket } of callers) socket.write(SCRAPE);
  await eventually(() => expect(callers.filter(isComplete).length).toBe(200));
  const statuses = callers.map(statusOf).toSorted();
  const good = statuses.filter((status) => status === "HTTP/1.1 200 OK").length;
  expect(statuses.slice(good)).toEqual(Array(200 - good).fill("HTTP/1.1 503 Service Unavailable"));
  expect(good).toBeGreaterThanOrEqual(100);
  await expectScrape(exporter);
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

const BAD_REQUESTS: readonly (readonly [string, string])[] = [
  ["POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"],
  ["DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"],
  ["\x16\x03\x01\x02\x00\x01\x00\x01", "HTTP/1.1 400 Bad Request"],
  ["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 400 Bad Request"],
  [`GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, "HTTP/1.1 431 Request Header Fields Too Large"],
];
