import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/browser/chromium.ts";
import { serveFleet } from "../test/browser/fleet-server.ts";
import {
  documentOf,
  HAPPENED,
  incident,
  NOW_MS,
  pair,
  secondSilent,
  shopDown,
  splitBrain,
} from "../test/exporter/page/documents.ts";

/** `npm run pictures` writes the status page as the README shows it into `docs/images`. */
const FOLDER = fileURLToPath(new URL("../docs/images/", import.meta.url));
const SPLIT_BRAIN = "rtm-1 and rtm-2 are both MASTER of 192.0.2.100 and 1 more VIP";
const DOCUMENT = documentOf(
  [shopDown(pair("ams")), splitBrain(pair("rtm")), secondSilent(pair("lab")), pair("fra"), pair("waw")],
  {
    incidents: [incident("split", "split_brain", 42, { cluster: "rtm", summary: SPLIT_BRAIN }), ...HAPPENED],
  },
);
/** The exporter's texts for these problems. */
const SUMMARIES: Readonly<Record<string, string>> = {
  split_brain: SPLIT_BRAIN,
  website_down: "shop is down: 503 from ams-1, MASTER; no HTTP response from ams-2",
  redundancy_lost:
    "lab-1 is MASTER of 192.0.2.100 and 1 more VIP without a backup: lab-2 does not answer in time (timeout)",
};
const PROBLEMS = DOCUMENT.problems.map((each) => ({
  ...each,
  summary: SUMMARIES[each.kind] ?? each.summary,
}));
const PICTURES = [
  { name: "status-page", query: "", width: 1280, height: 1100, colorScheme: "light" },
  { name: "status-page-narrow", query: "", width: 360, height: 780, colorScheme: "dark" },
  { name: "timelines", query: "?cluster=ams", width: 1000, height: 620, colorScheme: "light" },
] as const;

await mkdir(FOLDER, { recursive: true });
const server = await serveFleet({ ...DOCUMENT, problems: PROBLEMS }, () => NOW_MS);
const browser = await launchChromium();
for (const { name, query, width, height, colorScheme } of PICTURES) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(`${server.url}${query}`);
  await page.locator("html[data-connection=live]").waitFor();
  if (query !== "") await page.locator(".clusters").evaluate((clusters) => clusters.scrollIntoView());
  await page.screenshot({ path: `${FOLDER}${name}.png`, animations: "disabled" });
  await page.close();
}
await browser.close();
await server.stop();
