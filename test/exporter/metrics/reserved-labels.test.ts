import { expect, test } from "vitest";
import { errorsOf } from "../config/folder.ts";
import { cannedText, discoveredText, failedOverText } from "./canned-fleet.ts";
import { parseExposition } from "./strict-parser.ts";

/** Configured in the canned fleets. */
const CONFIGURED = ["rack", "site"];
/** Prometheus, its operator and Kubernetes add these to what they scrape, and histograms and summaries have the last two. */
const FURTHER = "cluster container endpoint instance job namespace node pod service le quantile".split(" ");

async function familyLabels(): Promise<readonly string[]> {
  const texts = [await cannedText(), await discoveredText(), await failedOverText()];
  const families = texts.flatMap(parseExposition);
  const labels = families.flatMap(({ samples }) => samples.flatMap((sample) => [...sample.labels.keys()]));
  return [...new Set(labels)].filter((label) => !CONFIGURED.includes(label));
}

test("no appliance can have a label that a family of appliances has, or that scrapers add", async () => {
  const labels = [...(await familyLabels()), ...FURTHER];
  expect(labels.length).toBeGreaterThan(30);
  const appliances = [...labels, ...CONFIGURED].map((label, nth) => {
    return { name: `a${nth}`, base_url: "https://h", labels: { [label]: "x" } };
  });
  const errors = await errorsOf(JSON.stringify({ appliances }));
  const found = errors.map((error) => /\[(\d+)\]\.labels.*: this label name is reserved$/.exec(error)?.[1]);
  expect(found.map((nth) => labels[Number(nth)])).toEqual(labels);
});
