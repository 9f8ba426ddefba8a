import { expect, test } from "vitest";
import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { createStatusBoard } from "../../src/status/board.ts";
import { fleetOf } from "../fleet/support.ts";
import { applianceOf, WALL_MS } from "../support/observations.ts";

/** When the next poll, planned for the monotonic instant 5000, is shown to be, by clocks that show these times in turn. */
async function nextPollsBy(clocks: readonly (readonly [wallMs: number, monotonicMs: number])[]) {
  let now = clocks[0] ?? [0, 0];
  const clock = { wallMs: () => now[0], monotonicMs: () => now[1] };
  const fleet = fleetOf([applianceOf({ name: "lone" })]);
  const board = createStatusBoard({ version: "1.2.3", shard: WHOLE_FLEET, fleet, clock });
  const runner = { nextPollMs: () => 5000 };
  const shown: (string | undefined)[] = [];
  for (const next of clocks) {
    now = next;
    const { clusters } = await board.document(runner);
    shown.push(clusters[0]?.appliances[0]?.poll.nextPollAt);
  }
  return shown;
}

test("what is planned does not move with the moment at which the clocks are read, and moves with a clock that is set", async () => {
  const clocks = [
    [WALL_MS, 0],
    [WALL_MS + 1000, 999],
    [WALL_MS + 2000, 2001],
    [WALL_MS + 63_000, 3000],
  ] as const;
  expect(await nextPollsBy(clocks)).toEqual([
    "2023-11-14T22:13:25.000Z",
    "2023-11-14T22:13:25.000Z",
    "2023-11-14T22:13:25.000Z",
    "2023-11-14T22:14:25.000Z",
  ]);
});

test("the configuration counts as old since the first of the reloads that failed", async () => {
  const clock = { wallMs: () => WALL_MS + 60_000, monotonicMs: () => 60_000 };
  const board = createStatusBoard({ version: "1.2.3", shard: WHOLE_FLEET, fleet: fleetOf([]), clock });
  const problems = async () => {
    const document = await board.document({ nextPollMs: () => undefined });
    return document.problems.map(({ kind, since }) => [kind, since]);
  };
  board.reloaded(false, WALL_MS);
  board.reloaded(false, WALL_MS + 30_000);
  expect(await problems()).toContainEqual(["reload_failed", "2023-11-14T22:13:20.000Z"]);
  board.reloaded(true, WALL_MS + 40_000);
  board.reloaded(false, WALL_MS + 50_000);
  expect(await problems()).toContainEqual(["reload_failed", "2023-11-14T22:14:10.000Z"]);
});
