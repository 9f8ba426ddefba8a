import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { RULES } from "./alert-rules.ts";
import { playScenario, promtool } from "./rule-tests.ts";
import { SCENARIOS } from "./scenarios.ts";

test("promtool finds nothing wrong with the rules and the example configuration that loads them", async () => {
  const file = fileURLToPath(new URL("appliance-exporter.rules.yml", RULES));
  expect(await promtool("check", "rules", "--lint=all", "--lint-fatal", file)).toMatchObject({
    hasFailed: false,
  });
  const config = await promtool("check", "config", fileURLToPath(new URL("prometheus.yml", RULES)));
  expect(config.output).toContain("SUCCESS: 1 rule files found");
});

describe.for(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))("%s", ([, scenario]) => {
  test.concurrent.for(
    (scenario.intervals ?? [1, 5, 15, 30]).flatMap((seconds) =>
      [false, true].map(
        (losesScrapes) =>
          [seconds, losesScrapes ? "one scrape in three lost, groups reversed" : "no scrape lost"] as const,
      ),
    ),
  )("exactly the expected alerts fire, in time, at %d s with %s", async ([seconds, lost]) => {
    expect(await playScenario(scenario, { seconds, losesScrapes: lost !== "no scrape lost" })).toMatch(
      /SUCCESS$/,
    );
  });
});
