import { readdirSync } from "node:fs";
import { join } from "node:path";
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
import { promtool, readRuleTests, RULE_TESTS, RULES, runRuleTests, TESTS } from "./rule-tests.ts";
import { sideBySide } from "./side-by-side.ts";

const tool = inject("promtool");
const path = tool.ok ? tool.path : "";
const name = (sentence: string): string => (tool.ok ? sentence : `${sentence} (${tool.reason})`);
const tried = test.skipIf(!tool.ok);

const ruleFiles = readdirSync(RULES).filter((file) => file.endsWith(".rules.yml"));

describe("the rules", () => {
  tried(name("promtool finds nothing wrong with them"), () => {
    const files = ruleFiles.map((file) => join(RULES, file));
    const { status, output } = promtool(path, "check", "rules", "--lint=all", "--lint-fatal", ...files);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output.match(/SUCCESS/g)).toHaveLength(5);
  });

  tried(name("are what the example configuration loads"), () => {
    const { status, output } = promtool(path, "check", "config", join(RULES, "prometheus.yml"));
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toContain(`${ruleFiles.length} rule files found`);
  });

  tried.each(RULE_TESTS)(name("fire and stay silent as test/monitoring/rules/%s.yml says"), (file) => {
    const { status, output } = promtool(path, "test", "rules", join(TESTS, `${file}.yml`));
    expect(output).toContain("SUCCESS");
    expect(status).toBe(0);
  });
});

/** What the tests are written for. */
const WRITTEN = 15;
const scraped = scrapedFrom(1);
const every = (seconds: number) => both(scrapedEvery(seconds, WRITTEN), scraped);

const DISTURBANCES = [
  ["labels that a scraper adds and appliances that are labelled differently", scraped, 15, 15],
  ["one scrape in three lost", both(scraped, loseOneScrapeInThree(2)), 15, 15],
  ["a restart of the exporter that takes a minute", both(scraped, restart(34, 4)), 15, 15],
  ["two exporters, one of them later", besideAnother, 15, 15],
  [
    "two exporters, and one scrape in three of both lost",
    both(besideAnother, loseOneScrapeInThree(1)),
    15,
    15,
  ],
  ["a second exporter that is cut off", besideOneCutOff, 15, 15],
  [
    "a second exporter that is cut off, and one scrape in three of the first lost",
    (series) => besideOneCutOff(loseOneScrapeInThree(2)(series)),
    15,
    15,
  ],
  ["scrapes every 5s", every(5), 5, 5],
  ["scrapes every 30s", every(30), 30, 30],
  ["scrapes every 60s", every(60), 60, 60],
  [
    "scrapes every 60s, one in three lost, evaluated every 15s",
    both(every(60), loseOneScrapeInThree(2)),
    60,
    15,
  ],
  ["evaluations that fall between the scrapes", scraped, 15, 7],
] as const;

describe.each(DISTURBANCES)("the rules hold with %s", (_, disturbance, scrapeSeconds, evaluationSeconds) => {
  const plan = { disturbance, scrapeSeconds, evaluationSeconds };

  tried.each(["appliances", "vrrp", "websites"])(name("test/monitoring/rules/%s.yml"), (file) => {
    const { status, output } = runRuleTests(path, sideBySide(readRuleTests(file), plan));
    expect(output).toContain("SUCCESS");
    expect(status).toBe(0);
  });
});
