import type { Page } from "playwright-core";

import { documentOf, NOW_MS, pair, shopDown } from "../page/documents.ts";
import { startFleetServer, type FleetServer } from "./fleet-server.ts";
import { useBrowser, type OnFinished, type Watched } from "./support.ts";

export const WELL = documentOf([pair("ams")]);
export const WRONG = documentOf([shopDown(pair("ams"))]);

/** A page that shows that all is well, and its server; for tests that wait for seconds to pass, all at once. */
export function useLivePage(): (
  onFinished: OnFinished,
) => Promise<Watched & { readonly server: FleetServer }> {
  const open = useBrowser();
  return async (onFinished) => {
    const server = await startFleetServer(WELL, NOW_MS, onFinished);
    const watched = await open(server.url, {}, onFinished);
    await watched.page.locator("html[data-connection=live]").waitFor();
    return { server, ...watched };
  };
}

/** What the page says of its connection. */
export function connectionOf(page: Page): Promise<string | null> {
  return page.evaluate(() => document.documentElement.getAttribute("data-connection"));
}
