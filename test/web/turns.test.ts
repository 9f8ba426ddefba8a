import { expect, test } from "vitest";
import { createTurns } from "../../src/web/serial-connection.ts";

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("a limited number of requests starts in a turn of the event loop, in order, and other work continues", async () => {
  const takeTurn = createTurns(2);
  const begun: number[] = [];
  for (let nth = 0; nth < 5; nth += 1) takeTurn(() => begun.push(nth));
  expect(begun).toEqual([]);
  await nextTurn();
  expect(begun).toEqual([0, 1]);
  takeTurn(() => begun.push(5));
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3]);
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  takeTurn(() => begun.push(6));
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
});
