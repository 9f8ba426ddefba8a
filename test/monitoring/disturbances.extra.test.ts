import { describe, expect, test } from "vitest";
import {
  besideAnother,
  besideOneCutOff,
  both,
  loseOneScrapeInThree,
  restart,
  scrapedEvery,
  scrapedFrom,
} from "./disturbances.ts";
import { readRuleTests, runRuleTests } from "./rule-tests.ts";
import { oneByOne, sideBySide } from "./side-by-side.ts";

/** The scrape interval that the tests are written for, in seconds. */
const WRITTEN = 15;
const lost = loseOneScrapeInThree(2);
const scraped = scrapedFrom(1);
const every = (seconds: number) => both(scrapedEvery(seconds, WRITTEN), scraped);

const SUCCESS = { status: 0, output: expect.stringMatching(/SUCCESS$/) };

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
  test.for(["appliances", "vrrp", "websites"])("rules/%s.yml", (file) => {
    const plan = { disturbance, scrapeSeconds, evaluationSeconds };
    expect(runRuleTests(sideBySide(readRuleTests(file), plan))).toEqual(SUCCESS);
  });
});

describe.each([
  ["one scrape in three lost", lost, 15, 15],
  ["scrapes every 60s", scrapedEvery(60, WRITTEN), 60, 60],
] as const)(
  "the rules about exporters and whole fleets hold with %s",
  (_, disturbance, scrape, evaluation) => {
    test.for(["exporter", "fleet"])("rules/%s.yml", (file) => {
      const plan = { disturbance, scrapeSeconds: scrape, evaluationSeconds: evaluation };
      expect(runRuleTests(oneByOne(readRuleTests(file), plan))).toEqual(SUCCESS);
    });
  },
);

describe.each([
  ["an exporter that goes in the middle of an outage ends no alert", "gone", 15],
  ["an exporter that goes in the middle of an outage ends no alert", "gone", 30],
  ["an exporter that goes in the middle of an outage ends no alert", "gone", 60],
  ["what is dark is told once", "dark", 15],
  ["what is dark is told once", "dark", 30],
] as const)("%s", (_, file, seconds) => {
  test(`with scrapes and evaluations every ${seconds}s`, () => {
    // Both files are written for 5s.
    const disturbance = scrapedEvery(seconds, 5);
    const plan = { disturbance, scrapeSeconds: seconds, evaluationSeconds: seconds };
    expect(runRuleTests(oneByOne(readRuleTests(file), plan))).toEqual(SUCCESS);
  });
});
