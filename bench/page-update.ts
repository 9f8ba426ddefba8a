import { once, EventEmitter } from "node:events";
import type { CDPSession, Page } from "playwright-core";
import { isForFragment, type FleetServer } from "../test/browser/fleet-server.ts";
import { fleetOfSize } from "../test/exporter/page/documents.ts";
import { APPLIANCES, withFleetPage } from "./fleet-page.ts";
import { median, type Measurement } from "./support.ts";

const UPDATES = 10;

/**
 * Measures the CPU time of an update in the thread of the open page, script and rendering, after every appliance was polled again. Its peer
 * replaces the body of the page.
 */
export function measurePageUpdate(): Promise<Measurement> {
  return withFleetPage(async (browser, server) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const own = await updateMs(page, server);
    const peer = await replaceMs(await browser.newPage({ viewport: { width: 1280, height: 900 } }), server);
    return {
      name: `an update of the open status page, ${APPLIANCES} appliances`,
      measured: `${own.toFixed(0)} ms of CPU`,
      peer: `replacing the whole page: ${peer.toFixed(0)} ms`,
      ratio: (own / peer).toFixed(2),
      goal: "at most 50 ms",
    };
  });
}

/** The page requests its state every second; each answer differs for every appliance. */
async function updateMs(page: Page, server: FleetServer): Promise<number> {
  const rounds = [0, 1, 2, 3].map((round) => fleetOfSize(APPLIANCES, round));
  const requested = new EventEmitter();
  let requests = 0;
  server.intercept((request) => {
    const next = rounds[requests % rounds.length];
    if (!isForFragment(request) || next === undefined) return false;
    requests += 1;
    server.show(next);
    requested.emit("request");
    return false;
  });
  await page.goto(server.url);
  const session = await openSession(page);
  const cpuMs: number[] = [];
  for (let warmUp = 0; warmUp < 3; warmUp += 1) await once(requested, "request");
  let before = await threadTimeMs(session);
  for (let update = 0; update < UPDATES; update += 1) {
    // The last answer is merged before the next request.
    await once(requested, "request");
    const now = await threadTimeMs(session);
    cpuMs.push(now - before);
    before = now;
  }
  server.intercept(undefined);
  return median(cpuMs);
}

async function replaceMs(page: Page, server: FleetServer): Promise<number> {
  server.show(fleetOfSize(APPLIANCES));
  const markup = await (await fetch(server.url)).text();
  const session = await openSession(page);
  const cpuMs: number[] = [];
  for (let update = 0; update < UPDATES; update += 1) {
    const before = await threadTimeMs(session);
    await page.evaluate((text) => {
      document.body.innerHTML = text;
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    }, markup);
    cpuMs.push((await threadTimeMs(session)) - before);
  }
  return median(cpuMs);
}

async function openSession(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  // The metrics contain the CPU time of the page's thread, regardless of other load.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return session;
}

/** Returns the time of all tasks: tasks that a response starts do not count as script. */
async function threadTimeMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}
