import type { CDPSession } from "playwright-core";
import { expect, test } from "vitest";
import { PLAYED_MS, playFleet } from "../exporter/page/played-fleet.ts";
import { useFleetPage } from "./support.ts";

const open = useFleetPage();

/** How many updates are shown before memory is measured, and from then on; an hour has 3,600. */
const [BEFORE, LATER] = [300, Number(process.env["WALL_UPDATES"] ?? 600)];
const [MOST_NODES, MOST_BYTES] = [500, 2_000_000];

test(
  "a wall takes no more memory after hundreds of updates",
  async () => {
    const [well, trouble] = await Promise.all([playFleet("well", 12), playFleet("trouble", 12)]);
    let updates = 0;
    const { page, server, errors } = await open(well.document, {
      timelines: well.timelines,
      wallMs: () => PLAYED_MS + (updates += 1) * 1000,
      query: "?view=wall",
      viewport: { width: 1920, height: 1080 },
    });
    server.intercept(() => {
      server.show(updates % 2 === 0 ? well.document : trouble.document);
      return false;
    });
    const show = (times: number): Promise<void> =>
      page.evaluate(async (all) => {
        const state = document.querySelector<HTMLElement>("#state");
        for (let nth = 0; nth < all; nth += 1) {
          const before = state?.dataset["at"];
          // The page requests its state at once.
          dispatchEvent(new Event("online"));
          while (state?.dataset["at"] === before) await new Promise((drawn) => requestAnimationFrame(drawn));
        }
      }, times);
    const session = await page.context().newCDPSession(page);
    await show(BEFORE);
    const before = await memoryOf(session);
    await show(LATER);
    const after = await memoryOf(session);
    expect(after.nodes - before.nodes).toBeLessThan(MOST_NODES);
    expect(after.bytes - before.bytes).toBeLessThan(MOST_BYTES);
    expect(errors).toEqual([]);
  },
  10 * 60_000,
);

/** The memory of a page after a collection. */
async function memoryOf(session: CDPSession): Promise<{ readonly nodes: number; readonly bytes: number }> {
  await session.send("HeapProfiler.collectGarbage");
  const { nodes } = await session.send("Memory.getDOMCounters");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return { nodes, bytes: usedSize };
}
