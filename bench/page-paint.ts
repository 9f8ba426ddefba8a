import type { Browser } from "playwright-core";
import { APPLIANCES, withFleetPage } from "./fleet-page.ts";
import { median, type Measurement } from "./support.ts";

const LOADS = 7;

/** Measures the time from navigation to the first visible content, without a cache, and compares it with a plain page of the same size. */
export function measureFirstPaint(): Promise<Measurement> {
  return withFleetPage(async (browser, server) => {
    const page = await (await fetch(server.url)).text();
    const bare = `<!doctype html><meta charset="utf-8"><title>bare</title><pre>${page.replaceAll("<", " ")}`;
    server.intercept(({ url }, response) => {
      if (url !== "/bare") return false;
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(bare);
      return true;
    });
    const oursMs: number[] = [];
    const peerMs: number[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      oursMs.push(await firstPaintMs(browser, server.url));
      peerMs.push(await firstPaintMs(browser, `${server.url}bare`));
    }
    const [own, peer] = [median(oursMs), median(peerMs)];
    return {
      name: `first paint of the status page, ${APPLIANCES} appliances`,
      measured: `${own.toFixed(0)} ms`,
      peer: `a bare page of as many bytes: ${peer.toFixed(0)} ms`,
      ratio: (own / peer).toFixed(1),
      goal: "at most 1 s",
    };
  });
}

const FIRST_PAINT = `new Promise((resolve) =>
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
  }).observe({ type: "paint", buffered: true }))`;

async function firstPaintMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  const paintMs = await page.evaluate<number>(FIRST_PAINT);
  await context.close();
  return paintMs;
}
