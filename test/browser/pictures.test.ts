import { mkdir, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import {
  documentOf,
  EVENTS,
  NOW_MS,
  pair,
  secondSilent,
  shopDown,
  shopDownInPart,
  splitBrain,
} from "../page/documents.ts";
import { startFleetServer } from "./fleet-server.ts";
import { photograph } from "./photograph.ts";
import { useBrowser } from "./support.ts";

const open = useBrowser();

const FOLDER = fileURLToPath(new URL("../../screenshots", import.meta.url));
const STATES = {
  well: documentOf([pair("ams"), pair("rtm")], { events: [...EVENTS] }),
  trouble: documentOf(
    [
      secondSilent(pair("ams")),
      splitBrain(pair("rtm")),
      shopDown(pair("fra")),
      shopDownInPart(pair("lab")),
      pair("waw"),
    ],
    { events: [...EVENTS] },
  ),
};

test.each(["light", "dark"] as const)("pictures for people to look at, %s", async (colorScheme) => {
  await mkdir(FOLDER, { recursive: true });
  const server = await startFleetServer(STATES.well, NOW_MS);
  const { page } = await open(server.url, { colorScheme });
  const shoot = async (name: string, width: number): Promise<void> => {
    const path = `${FOLDER}/${name}-${colorScheme}-${width}.png`;
    await page.setViewportSize({ width, height: 900 });
    await photograph(page, path);
    expect((await stat(path)).size).toBeGreaterThan(10_000);
  };
  await page.locator("html[data-connection=live]").waitFor();
  await shoot("well", 1280);
  server.show(STATES.trouble);
  await page.locator(".verdict[data-level=critical]").waitFor();
  for (const width of [360, 768, 1280]) await shoot("trouble", width);
  await server.stop();
  await page.locator("html[data-connection=lost]").waitFor();
  await shoot("lost", 1280);
});
