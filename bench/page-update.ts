import { once, EventEmitter } from "node:events";
import type { CDPSession, Page } from "playwright-core";
import { isForFleet, type FleetServer } from "../test/browser/fleet-server.ts";
import { fleetOfSize } from "../test/page/documents.ts";
import { APPLIANCES, withFleetPage } from "./fleet-page.ts";
import { median, type Measurement } from "./support.ts";

const UPDATES = 10;

/**
 * What an update takes of the open page's thread, script and drawing together, with a document in which every appliance
 * was polled anew; beside the same document read, and the whole page put in anew.
 */
export function measurePageUpdate(): Promise<Measurement> {
  return withFleetPage(async (browser, server) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const own = await updateMs(page, server);
    const peer = await redrawMs(await browser.newPage({ viewport: { width: 1280, height: 900 } }), server);
    return {
      name: `an update of the open status page, ${APPLIANCES} appliances`,
      measured: `${own.toFixed(0)} ms of CPU`,
      peer: `putting the whole page in anew: ${peer.toFixed(0)} ms`,
      ratio: (own / peer).toFixed(2),
      goal: "at most 100 ms",
    };
  });
}

/** The page asks every second; each answer differs in every appliance. */
async function updateMs(page: Page, server: FleetServer): Promise<number> {
  const rounds = [0, 1, 2, 3].map((round) => fleetOfSize(APPLIANCES, round));
  const asked = new EventEmitter();
  let questions = 0;
  server.intercept((request) => {
    const next = rounds[questions % rounds.length];
    if (!isForFleet(request) || next === undefined) return false;
    questions += 1;
    server.show(next);
    asked.emit("question");
    return false;
  });
  await page.goto(server.url);
  const session = await openSession(page);
  const cpuMs: number[] = [];
  // The first ones take in what the server has drawn.
  for (let warmUp = 0; warmUp < 3; warmUp += 1) await once(asked, "question");
  let before = await threadTimeMs(session);
  for (let update = 0; update < UPDATES; update += 1) {
    // By the next question the answer to the last one was taken in.
    await once(asked, "question");
    const now = await threadTimeMs(session);
    cpuMs.push(now - before);
    before = now;
  }
  server.intercept(undefined);
  return median(cpuMs);
}

async function redrawMs(page: Page, server: FleetServer): Promise<number> {
  server.show(fleetOfSize(APPLIANCES));
  const [markup, json] = await Promise.all(
    ["", "api/v1/fleet"].map(async (path) => (await fetch(server.url + path)).text()),
  );
  const session = await openSession(page);
  const cpuMs: number[] = [];
  for (let update = 0; update < UPDATES; update += 1) {
    const before = await threadTimeMs(session);
    await page.evaluate(
      ([text = "", data = ""]) => {
        JSON.parse(data);
        document.body.innerHTML = text;
        return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      },
      [markup, json] as const,
    );
    cpuMs.push((await threadTimeMs(session)) - before);
  }
  return median(cpuMs);
}

async function openSession(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  // CPU time of the page's own thread, whatever else the machine does.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return session;
}

/** All tasks: those for the answer to a question count as no script's. */
async function threadTimeMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}
