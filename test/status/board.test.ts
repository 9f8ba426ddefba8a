import { expect, test } from "vitest";
import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { createSelfMetrics } from "../../src/metrics/self.ts";
import { createStatusBoard } from "../../src/status/board.ts";
import { createLog } from "../../src/support/log.ts";
import { fleetOf } from "../fleet/support.ts";
import { BUILD } from "../support/build-facts.ts";
import { WALL_MS } from "../support/observations.ts";

test("the configuration counts as old since the first of the reloads that failed", async () => {
  const clock = { wallMs: () => WALL_MS + 60_000, monotonicMs: () => 60_000 };
  const board = createStatusBoard({
    version: "1.2.3",
    shard: WHOLE_FLEET,
    fleet: fleetOf([]),
    self: createSelfMetrics({ version: "1.2.3", build: BUILD, shard: WHOLE_FLEET }, () => 0),
    logger: createLog("error", "json", 2).logger,
    clock,
    runner: () => {
      throw new Error("nothing is observed");
    },
  });
  const problems = async () => {
    const document = await board.document();
    return document.problems.map(({ kind, since }) => [kind, since]);
  };
  board.reloaded(false, WALL_MS);
  board.reloaded(false, WALL_MS + 30_000);
  expect(await problems()).toContainEqual(["reload_failed", "2023-11-14T22:13:20.000Z"]);
  board.reloaded(true, WALL_MS + 40_000);
  board.reloaded(false, WALL_MS + 50_000);
  expect(await problems()).toContainEqual(["reload_failed", "2023-11-14T22:14:10.000Z"]);
});
