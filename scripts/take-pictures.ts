import { mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/browser/chromium.ts";
import { serveFleet } from "../test/browser/fleet-server.ts";
import { PLAYED_MS, playFleet, SITUATIONS } from "../test/exporter/page/played-fleet.ts";
import { keysOf } from "../src/support/keys.ts";

/**
 * `npm run pictures` writes the status page as the README shows it into `docs/images`; with `--all`, also each situation on each screen, in
 * light and dark, into `out/pictures`, to be looked at after a change of the page.
 */
const DOCUMENTED = fileURLToPath(new URL("../docs/images/", import.meta.url));
const ALL = fileURLToPath(new URL("../out/pictures/", import.meta.url));

const SCREENS = {
  desktop: { width: 1280, height: 800 },
  wide: { width: 1920, height: 1080 },
  phone: { width: 390, height: 844 },
  wall: { width: 1920, height: 1080 },
} as const;

interface Picture {
  readonly situation: keyof typeof SITUATIONS;
  readonly screen: keyof typeof SCREENS;
  readonly colorScheme: "light" | "dark";
  readonly path: string;
  /** The text of the problem that is clicked before. */
  readonly click?: string;
  /** Whether the exporter no longer answers. */
  readonly isGone?: boolean;
}

const README: readonly Picture[] = [
  {
    situation: "trouble",
    screen: "desktop",
    colorScheme: "light",
    path: `${DOCUMENTED}status-page.png`,
    click: "are both MASTER",
  },
  {
    situation: "trouble",
    screen: "phone",
    colorScheme: "dark",
    path: `${DOCUMENTED}status-page-narrow.png`,
  },
  { situation: "trouble", screen: "wall", colorScheme: "dark", path: `${DOCUMENTED}wall.png` },
];

const EACH = keysOf(SITUATIONS).flatMap((situation) =>
  keysOf(SCREENS).flatMap((screen) =>
    (["light", "dark"] as const).flatMap((colorScheme): readonly Picture[] => {
      const path = (name: string) => `${ALL}${screen}-${colorScheme}-${name}.png`;
      const picture = { situation, screen, colorScheme, path: path(situation) };
      return situation === "trouble"
        ? [picture, { ...picture, isGone: true, path: path("gone") }]
        : [picture];
    }),
  ),
);

async function take(picture: Picture): Promise<void> {
  const { situation, screen, colorScheme, path, click, isGone = false } = picture;
  const { document, timelines } = await playFleet(situation);
  const server = await serveFleet(document, () => PLAYED_MS, timelines);
  const page = await browser.newPage({
    viewport: SCREENS[screen],
    colorScheme,
    timezoneId: "Europe/Amsterdam",
  });
  await page.goto(`${server.url}${screen === "wall" ? "?view=wall" : ""}`);
  await page.locator("html[data-connection=live]").waitFor();
  if (click !== undefined) {
    await page.locator("a.line", { hasText: click }).click();
    await page.locator("tr[aria-current]").waitFor();
    await page.evaluate("scrollTo(0, 0)");
  }
  await server.stop();
  if (isGone) await page.locator("html[data-connection=lost]").waitFor();
  await page.screenshot({ path, animations: "disabled" });
  await page.close();
}

const isAll = process.argv.includes("--all");
await mkdir(DOCUMENTED, { recursive: true });
await rm(ALL, { recursive: true, force: true });
if (isAll) await mkdir(ALL, { recursive: true });
const browser = await launchChromium();
for (const picture of isAll ? [...README, ...EACH] : README) await take(picture);
await browser.close();
