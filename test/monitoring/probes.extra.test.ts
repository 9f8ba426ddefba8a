import { expect, test } from "vitest";
import { ALL_GROUPS } from "./alert-rules.ts";
import { playScenario, textsOf } from "./rule-tests.ts";
import { PROBED_SITES } from "./site-scenarios.ts";

test.for(PROBED_SITES.map((scenario) => [scenario.name, scenario] as const))(
  "exactly the expected alerts fire: %s",
  async ([, scenario]) => {
    const scraping = { seconds: 15, losesScrapes: true };
    expect(await playScenario(scenario, scraping, ALL_GROUPS)).toMatch(/SUCCESS$/);
  },
);

test("messages about probes say which VIPs and websites do not answer", async () => {
  const sent = (await Promise.all(PROBED_SITES.map((each) => textsOf(each, ALL_GROUPS)))).flat();
  const texts = sent
    .filter(({ labels }) => labels["alertname"]?.startsWith("Probed") === true)
    .map(({ annotations: { summary, description } }) => `${summary} | ${description}`);
  expect(texts.toSorted()).toEqual([
    "healthy-0: 1 VIP answers no probe, whatever the appliances say: 192.0.2.100 | Visitors reach nothing there: look at the way to these addresses, and at the appliances.",
    "healthy-1: shop fails from Prometheus's side, and not at the appliances | HTTP status, 0 for none: 403 of https://shop.example.org/; look at its name, its certificate, and the way to it",
    "mad-0: 1 VIP answers no probe, whatever the appliances say: 192.0.2.100 | Visitors reach nothing there: look at the way to these addresses, and at the appliances. Neither a nor b is reached (timeout).",
  ]);
});
