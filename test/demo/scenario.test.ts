import { describe, expect, it } from "vitest";

import { advance, BEGINNING, describeStep, script, type World } from "../../src/demo/scenario.ts";

const STEPS_IN_A_LAP = 12;

/** The worlds after each of the first steps, with the sentence for each. */
function playSteps(count: number) {
  const steps = script();
  let world: World = BEGINNING;
  return Array.from({ length: count }, () => {
    const step = steps.next().value;
    world = advance(world, step);
    return { world, sentence: describeStep(step, world) };
  });
}

describe("the demo's script", () => {
  it("describes each step in one sentence", () => {
    expect(playSteps(STEPS_IN_A_LAP).map(({ sentence }) => sentence)).toEqual([
      "failover: demo-b is the master now, demo-a its backup",
      "outage: website shop stops listening, connections are refused",
      "repair: website shop is back",
      "failover: demo-a is the master now, demo-b its backup",
      "outage: website portal answers 503 Service Unavailable",
      "repair: website portal is back",
      "failover: demo-b is the master now, demo-a its backup",
      "outage: website blog stops listening, connections are refused",
      "repair: website blog is back",
      "failover: demo-a is the master now, demo-b its backup",
      "outage: website shop answers 503 Service Unavailable",
      "repair: website shop is back",
    ]);
  });

  it("changes the world with every step, exactly as described", () => {
    const [failover, outage, repair] = playSteps(3).map(({ world }) => world);
    expect(failover).toEqual({ ...BEGINNING, master: "demo-b" });
    expect(outage).toEqual({ master: "demo-b", websites: { blog: "up", shop: "refusing", portal: "up" } });
    expect(repair).toEqual(failover);
  });

  it("ends each round as it began, and starts the next", () => {
    const played = playSteps(2 * STEPS_IN_A_LAP);
    expect(played[STEPS_IN_A_LAP - 1]?.world).toEqual(BEGINNING);
    expect(played.slice(STEPS_IN_A_LAP)).toEqual(played.slice(0, STEPS_IN_A_LAP));
  });

  it("never takes two websites down at once", () => {
    for (const { world } of playSteps(STEPS_IN_A_LAP)) {
      const down = Object.values(world.websites).filter((condition) => condition !== "up");
      expect(down.length).toBeLessThanOrEqual(1);
    }
  });
});
