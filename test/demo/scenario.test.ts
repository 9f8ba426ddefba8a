import { expect, test } from "vitest";
import { BEGINNING, SCRIPT, type World } from "../../src/demo/scenario.ts";

/** The worlds after each step of a round. */
function worlds(): readonly World[] {
  let world = BEGINNING;
  return SCRIPT.map(({ apply }) => (world = apply(world)));
}

test("each step has a sentence", () => {
  expect(SCRIPT.map(({ sentence }) => sentence)).toEqual([
    "failover: demo-b is the master now, demo-a its backup",
    "outage: website shop closes connections without an answer",
    "repair: website shop is back",
    "failover: demo-a is the master now, demo-b its backup",
    "outage: website portal answers 503 Service Unavailable",
    "repair: website portal is back",
    "failover: demo-b is the master now, demo-a its backup",
    "outage: website blog closes connections without an answer",
    "repair: website blog is back",
    "failover: demo-a is the master now, demo-b its backup",
    "outage: website shop answers 503 Service Unavailable",
    "repair: website shop is back",
  ]);
});

test("each step changes the world as described, and the round ends as it began", () => {
  const [failover, outage, repair] = worlds();
  expect(failover).toEqual({ ...BEGINNING, master: "demo-b" });
  expect(outage).toEqual({ master: "demo-b", websites: { blog: "up", shop: "hanging up", portal: "up" } });
  expect(repair).toEqual(failover);
  expect(worlds().at(-1)).toEqual(BEGINNING);
});
