import type { Page } from "playwright-core";

/** Higher ones would not be looked at. */
const MAX_HEIGHT = 4000;

/** Writes a PNG of the page in its whole height, with nothing left out because it is far from what can be seen. */
export async function photograph(page: Page, path: string): Promise<void> {
  const { width = 1280 } = page.viewportSize() ?? {};
  const heightOf = (): Promise<number> => page.evaluate(() => document.body.scrollHeight);
  // What comes into sight takes its real height.
  for (let height = 0; height !== (await heightOf()) && height < MAX_HEIGHT;) {
    height = Math.min(await heightOf(), MAX_HEIGHT);
    await page.setViewportSize({ width, height });
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    );
  }
  await page.screenshot({ path, animations: "disabled" });
}
