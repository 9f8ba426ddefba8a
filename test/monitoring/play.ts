import pLimit from "p-limit";
import { expect, test } from "vitest";
import { playScenario } from "./rule-tests.ts";
import type { Scenario } from "./scenario.ts";

/** Leaves processors to the tests beside, so a test may wait for several others. */
const inTurn = pLimit(2);
const TIMEOUT_MS = 1_800_000;

/**
 * A test for each scenario at each interval. At 2 s, where a lost scrape is followed by another one before the rules are evaluated, none is
 * lost. Elsewhere losses are the harder case.
 */
export function playAt(
  played: readonly (readonly [seconds: number, scenarios: readonly Scenario[]])[],
): void {
  test.concurrent.for(
    played.flatMap(([seconds, scenarios]) => {
      const lost = seconds === 2 ? "no scrape lost" : "one scrape in three lost, groups reversed";
      return scenarios.map((scenario) => [seconds, lost, scenario.name, scenario] as const);
    }),
  )(
    "exactly the expected alerts fire, in time, at %d s with %s: %s",
    { timeout: TIMEOUT_MS },
    async ([seconds, , , scenario]) => {
      const output = await inTurn(() => playScenario(scenario, { seconds, losesScrapes: seconds !== 2 }));
      expect(output).toMatch(/SUCCESS$/);
    },
  );
}
