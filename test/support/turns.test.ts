import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurns } from "../../src/support/turns.ts";

test("callers go on for as long as the budget of a turn lasts, one of each first, and the others in the next turn", async () => {
  let nowMs = 0;
  const turnOf = createTurns(10, () => nowMs);
  const worked: string[] = [];
  async function work(who: string): Promise<void> {
    await turnOf(who);
    await Promise.resolve();
    worked.push(who);
    nowMs += 4;
  }
  for (const who of ["busy", "busy", "busy", "busy", "other"]) void work(who);
  await setImmediate();
  expect(worked).toEqual(["busy", "other", "busy"]);
  await setImmediate();
  expect(worked).toEqual(["busy", "other", "busy", "busy", "busy"]);
});

test("a caller that comes again while others are served waits for its turn behind them", async () => {
  const turnOf = createTurns(10, () => 0);
  const worked: string[] = [];
  async function workTwice(who: string): Promise<void> {
    for (const nth of [1, 2]) {
      await turnOf(who);
      worked.push(`${who} ${nth}`);
    }
  }
  await Promise.all(["one", "other"].map(workTwice));
  expect(worked).toEqual(["one 1", "other 1", "one 2", "other 2"]);
});
