import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import { FLEET_FAMILIES } from "../../../src/exporter/metrics/families.ts";
import { createSelfMetrics } from "../../../src/exporter/metrics/self.ts";
import { ownProblems } from "../../../src/exporter/judge/own-problems.ts";
import { PROBLEM_OF, RISKS } from "../../../src/exporter/judge/states.ts";
import { FAILURE_REASONS } from "../../../src/exporter/api/failure.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { cannedText, discoveredText, failedOverText } from "./canned-fleet.ts";
import { parseExposition } from "./strict-parser.ts";
import { BUILD } from "../../support/build-facts.ts";

const PAGE = readFileSync(new URL("../../../docs/reference/metrics.md", import.meta.url), "utf8");
const FAILOVER_PAGE = readFileSync(new URL("../../../docs/failover.md", import.meta.url), "utf8");

interface Row {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The rows of the page's tables, by what their first column is headed. */
function tableRows(heading: string, page = PAGE): readonly (readonly string[])[] {
  const blocks = page.split("\n\n").filter((block) => block.startsWith(`| ${heading} |`));
  return blocks.flatMap((block) => block.trimEnd().split("\n").slice(2).map(cellsOf));
}

function cellsOf(line: string): readonly string[] {
  return line
    .replace(/^\| ?| ?\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

function unquoted(cell = ""): string {
  return cell.replaceAll("`", "");
}

function documentedRows(): readonly Row[] {
  return tableRows("family").map(([name, type = "", labels = ""]) => ({
    name: unquoted(name),
    type,
    labels: labels === "" ? [] : labels.split(", ").map(unquoted),
  }));
}

/** Rows and their labels in a fixed order. */
function byName(rows: readonly Row[]): readonly Row[] {
  const sorted = rows.map((row) => ({ ...row, labels: row.labels.toSorted() }));
  return sorted.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The families in the text with the labels that their samples have, but for these. */
function exportedRows(text: string, leftOut: ReadonlySet<string>): readonly Row[] {
  return parseExposition(text).map(({ name, type, samples }) => {
    const labels = new Set(samples.flatMap((sample) => [...sample.labels.keys()]));
    return { name, type, labels: [...labels].filter((label) => !leftOut.has(label)) };
  });
}

/** All families, with the labels that they have in any of the texts. */
async function fleetRows(): Promise<readonly Row[]> {
  const texts = [await cannedText(), await discoveredText(), await failedOverText()];
  const rows = groupBy(
    texts.flatMap((text) => exportedRows(text, COMMON)),
    ({ name }) => name,
  );
  return Array.from(rows.values(), (all) => {
    const labels = [...new Set(all.flatMap((row) => row.labels))];
    return { name: all[0]?.name ?? "", type: all[0]?.type ?? "", labels };
  });
}

/** On every series of an appliance or a cluster, and therefore in no row. */
const COMMON = new Set(["appliance", "ha_cluster", "site", "rack"]);

async function ownRows(): Promise<readonly Row[]> {
  const journal = {
    isUp: () => true,
    failing: () => undefined,
    bytes: () => 1,
    damagedLines: () => 0,
  };
  const self = createSelfMetrics({ version: "0.0.0", build: BUILD, shard: WHOLE_FLEET, journal }, () => 0);
  self.problems(ownProblems([], { reloadFailedAtMs: 0 }));
  const rows = exportedRows(await self.render(), new Set(["le"]));
  return rows.filter(({ name }) => name.startsWith("appliance_exporter_"));
}

test("every family that is exported is documented with its type and labels, and no other", async () => {
  expect(byName(documentedRows())).toEqual(byName([...(await fleetRows()), ...(await ownRows())]));
});

test("the families that rules and dashboard do not read are those that the page says how to drop", () => {
  const readers = ["prometheus/appliance-exporter.rules.yml", "grafana/appliance-exporter.json"].map((name) =>
    readFileSync(new URL(`../../../monitoring/${name}`, import.meta.url), "utf8"),
  );
  const read = new Set(readers.join(" ").match(/[a-z_]+/g));
  const [, dropped = ""] = /What nothing here reads[^`]*```yaml[^`]*regex: >-\s+(\S+)/.exec(PAGE) ?? [];
  expect(dropped.split("|")).toEqual(
    Object.keys(FLEET_FAMILIES)
      .filter((name) => !read.has(name))
      .toSorted(),
  );
});

test("the canned fleets have samples of every family, in the order of the code", async () => {
  const found = new Set((await fleetRows()).map(({ name }) => name));
  const names = Object.keys(FLEET_FAMILIES);
  expect(names.filter((name) => !found.has(name))).toEqual([]);
  for (const text of [await cannedText(), await discoveredText(), await failedOverText()]) {
    const exported = parseExposition(text).map(({ name }) => name);
    expect(exported).toEqual(names.filter((name) => exported.includes(name)));
  }
});

test("every reason is documented, in the order of the code, and no other", () => {
  expect(tableRows("reason").map(([reason]) => unquoted(reason))).toEqual([...FAILURE_REASONS]);
});

test("every state and risk of a failover is documented with its effect, in the order of the code, and no other", () => {
  const [states, risks] = ["state", "risk"].map((heading) => tableRows(heading, FAILOVER_PAGE));
  expect(states?.map(([state]) => unquoted(state))).toEqual(Object.keys(PROBLEM_OF.readiness));
  expect(risks?.map(([risk, effect]) => [unquoted(risk), unquoted(effect)])).toEqual(Object.entries(RISKS));
});

test("every anomaly is documented, and no other", async () => {
  const families = [await cannedText(), await discoveredText()].flatMap((text) => parseExposition(text));
  const samples = families
    .filter(({ name }) => name === "appliance_api_anomalies")
    .flatMap((one) => one.samples);
  const exported = new Set(samples.map(({ labels }) => labels.get("anomaly")));
  expect(new Set(tableRows("anomaly").map(([anomaly]) => unquoted(anomaly)))).toEqual(exported);
});

test("every row says what its family means", () => {
  expect(tableRows("family").filter(([, , , meaning = ""]) => meaning === "")).toEqual([]);
});
