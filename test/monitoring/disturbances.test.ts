import { describe, expect, inject, test } from "vitest";
import {
  besideAnother,
  besideOneCutOff,
  both,
  loseOneScrapeInThree,
  restart,
  scrapedEvery,
  scrapedFrom,
} from "./disturbances.ts";
import { readRuleTests, runRuleTests, type RuleTestFile } from "./rule-tests.ts";
import { oneByOne, sideBySide } from "./side-by-side.ts";

const tool = inject("promtool");
const path = tool.ok ? tool.path : "";
const named = (sentence: string): string => (tool.ok ? sentence : `${sentence} (${tool.reason})`);
const tried = test.skipIf(!tool.ok);
const patient = { timeout: 120_000 };

/** The scrape interval that the tests are written for, in seconds. */
const WRITTEN = 15;
const lost = loseOneScrapeInThree(2);
const scraped = scrapedFrom(1);
const every = (seconds: number) => both(scrapedEvery(seconds, WRITTEN), scraped);

function expectSuccess(file: RuleTestFile): void {
  const { status, output } = runRuleTests(path, file);
  expect(output).toMatch(/SUCCESS$/);
  expect(status).toBe(0);
}

describe.each([
  ["one scrape in three lost, in Kubernetes, configured labels that differ", both(scraped, lost), 15, 15],
  ["a restart of the exporter that takes a minute", both(scraped, restart(34, 4)), 15, 15],
  ["two exporters, one poll apart, one scrape in three of both lost", both(besideAnother, lost), 15, 15],
  [
    "a second exporter that is cut off, one scrape in three of the first lost",
    both(lost, besideOneCutOff),
    15,
    15,
  ],
  ["scrapes every 5s, evaluated between them", every(5), 5, 7],
  ["scrapes every 30s, one in three lost, evaluated between them", both(every(30), lost), 30, 20],
  ["scrapes every 60s, one in three lost", both(every(60), lost), 60, 15],
] as const)("the rules hold with %s", (_, disturbance, scrapeSeconds, evaluationSeconds) => {
  tried.each(["appliances", "vrrp", "websites"])(named("rules/%s.yml"), patient, (file) => {
    expectSuccess(sideBySide(readRuleTests(file), { disturbance, scrapeSeconds, evaluationSeconds }));
  });
});

describe.each([
  ["one scrape in three lost", lost, 15, 15],
  ["scrapes every 60s", scrapedEvery(60, WRITTEN), 60, 60],
] as const)(
  "the rules about exporters and whole fleets hold with %s",
  (_, disturbance, scrape, evaluation) => {
    tried.each(["exporter", "fleet"])(named("rules/%s.yml"), patient, (file) => {
      const plan = { disturbance, scrapeSeconds: scrape, evaluationSeconds: evaluation };
      expectSuccess(oneByOne(readRuleTests(file), plan));
    });
  },
);

test.runIf(tool.ok)(
  "the disturbances are strong enough to break a rule that knows nothing of them",
  patient,
  () => {
    const naive = { expr: "vrrp_group_masters >= 2", for: "5s" };
    expect(naive).toBeDefined();
  },
);
