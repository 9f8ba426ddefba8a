import type { Browser } from "playwright-core";
import { launchChromium } from "../test/browser/chromium.ts";
import { serveFleet, type FleetServer } from "../test/browser/fleet-server.ts";
import { fleetOfSize } from "../test/exporter/page/documents.ts";

export const APPLIANCES = 1000;

/** Serves the status page of a large fleet and starts a real browser. Rejects if there is no Chromium. */
export async function withFleetPage<T>(
  work: (browser: Browser, server: FleetServer) => Promise<T>,
): Promise<T> {
  const server = await serveFleet(fleetOfSize(APPLIANCES));
  const browser = await launchChromium();
  try {
    return await work(browser, server);
  } finally {
    await browser.close();
    await server.stop();
  }
}
