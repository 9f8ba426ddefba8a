import type { Browser } from "playwright-core";
import { launchChromium } from "../test/browser/support.ts";
import { serveFleet, type FleetServer } from "../test/browser/fleet-server.ts";
import { findDebianTools } from "../test/support/debian-tool.ts";
import { fleetOfSize } from "../test/web/status-page/documents.ts";

export const APPLIANCES = 1000;

/** The status page of a large fleet, and a real browser to look at it. Rejects where there is no Chromium. */
export async function withFleetPage<T>(
  work: (browser: Browser, server: FleetServer) => Promise<T>,
): Promise<T> {
  const wanted = [{ command: "chromium", packageName: "chromium" }];
  const chromium = findDebianTools(wanted, (text) => process.stderr.write(`${text}\n`))("chromium");
  if (!chromium.ok) throw new Error(`the status page is measured in a browser: ${chromium.reason}`);
  const server = await serveFleet(fleetOfSize(APPLIANCES));
  const browser = await launchChromium(chromium.path);
  try {
    return await work(browser, server);
  } finally {
    await browser.close();
    await server.stop();
  }
}
