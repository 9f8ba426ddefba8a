import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { LABEL_QUERIES, PANELS, QUERIES } from "./committed.ts";
import { fillIn } from "./promql.ts";
import { EXTERNAL_URL, startRig, type Rig } from "./rig.ts";

/** As Grafana writes several chosen values. */
const FLEET = "(well|split|headless|bare|half|dark|swapped|locked)";
const PATIENT = { everyMs: 500 };

let rig: Rig;

/** Until each state of the beginning is in Prometheus, counters included. */
async function seeThingsWell(): Promise<void> {
  await eventually(async () => {
    const masters = await rig.prometheus.query('vrrp_group_master{ha_cluster=~"half|dark|swapped"}');
    expect(masters).toHaveLength(6);
    expect(
      await rig.prometheus.query('count_over_time(vrrp_is_master{appliance="demo-a"}[1m]) > 3'),
    ).toHaveLength(2);
  }, PATIENT);
}

/** What a panel's first query answers now, a line a series: the values of these labels, then its own. */
async function answers(wanted: string, labels: readonly string[] = []): Promise<readonly string[]> {
  const { expr = "" } = PANELS.find(({ title }) => title === wanted)?.targets[0] ?? {};
  const series = await rig.prometheus.query(fillIn(expr, FLEET));
  return series
    .map((one) => [...labels.map((label) => one.labels[label] ?? ""), one.values[0]].join(" "))
    .toSorted();
}

async function tiles(): Promise<readonly string[]> {
  const titles = PANELS.filter(({ type }) => type === "stat").map(({ title }) => title);
  return Promise.all(titles.map(async (title) => `${title}: ${(await answers(title)).join()}`));
}

describe("a real Prometheus that scrapes the demo and a fleet in trouble", () => {
  beforeAll(async () => {
    rig = await startRig();
    await seeThingsWell();
    rig.breakThings();
    // A failover, and a website that goes down.
    rig.demo.step();
    rig.demo.step();
    await rig.second.write("config.yaml", "clusters: none\n");
    expect(await rig.second.reload()).toBe(false);
  });

  afterAll(() => rig.stop());

  test("the table of what is wrong has every trouble once, though two exporters see it", async () => {
    const labels = ["severity", "alertname", "ha_cluster", "appliance", "website"];
    await eventually(async () => {
      const alerts = (await answers("What is wrong now", labels)).filter(
        (line) => /ReloadFailed/.test(line) || !/Exporter|PollsLate/.test(line),
      );
      expect(alerts.map((line) => line.replace(/ +1$/, ""))).toEqual([
        "critical VrrpMasterUnknown dark",
        "critical VrrpNoMaster headless",
        "critical VrrpRedundancyLost bare",
        "critical VrrpSplitBrain split",
        "critical WebsiteDown well  down",
        "critical WebsiteUnknown well  never",
        "warning ApplianceApiAnomalies bare bare-2",
        "warning ApplianceDown half half-2",
        "warning ApplianceExporterReloadFailed",
        "warning ApplianceRefused locked locked-1",
        "warning FailoverNotReady well well-1",
        "warning VrrpFailover swapped swapped-2",
        "warning VrrpOddState bare bare-2",
        "warning VrrpPreferredMasterLost swapped",
      ]);
    }, PATIENT);
  });

  test("every number of the overview is right, though two exporters count", async () => {
    await eventually(async () => {
      expect(await tiles()).toEqual([
        "Split brains: 1",
        "No master known: 2",
        "No backup left: 1",
        "Websites down: 1",
        "Websites unknown: 1",
        "Appliances not watched: 3",
      ]);
    }, PATIENT);
  });

  test("the panels show the exporters' verdicts", async () => {
    await eventually(async () => {
      // The failover of "swapped" may show as trouble.
      const groups = await answers("Groups that had a problem", ["ha_cluster"]);
      expect(groups.filter((line) => !line.startsWith("swapped"))).toEqual([
        "bare 3",
        "dark 0",
        "headless 5",
        "split 6",
      ]);
      expect(await answers("Websites that had a problem", ["website", "protocol"])).toEqual([
        "down http 4",
        "never  0",
        "partly http 2",
      ]);
    }, PATIENT);
  });

  test("failovers are annotated with both masters and the cause, and nothing else is", async () => {
    const { target } = QUERIES.find(({ name }) => name === "Failovers") ?? {};
    await eventually(async () => {
      const events = await rig.prometheus.queryRange(fillIn(target?.expr ?? ""), rig.sinceMs);
      const found = events.map(({ labels: { from, to, cause } }) => `${from} ${to} ${cause}`);
      expect([...new Set(found)].filter((line) => !line.endsWith("unknown")).toSorted()).toEqual([
        "demo-a demo-b stepped_down",
        "swapped-1 swapped-2 stepped_down",
      ]);
    }, PATIENT);
  });

  test.each(LABEL_QUERIES)("variable $name finds what can be chosen", async ({ name, series, label }) => {
    const some: Readonly<Record<string, readonly string[]>> = {
      site: ["amsterdam"],
      cluster: ["demo", "locked", "well"],
      appliance: ["demo-a", "locked-1", "well-1"],
      website: ["blog", "never", "up"],
    };
    const values = await rig.prometheus.labelValues(label, fillIn(series));
    expect(values).toEqual(expect.arrayContaining([...(some[name] ?? [])]));
  });

  test("every query has an answer, but for that about planned work, of which there is none", async () => {
    const { sinceMs, prometheus } = rig;
    await eventually(async () => {
      const open = QUERIES.map(async ({ name, target }) => {
        const expr = fillIn(target.expr);
        const answer = await (target.instant ? prometheus.query(expr) : prometheus.queryRange(expr, sinceMs));
        return answer.length === 0 ? [name] : [];
      });
      expect((await Promise.all(open)).flat()).toEqual(["Planned work, A"]);
    }, PATIENT);
  });

  test("links lead to the URL of an exporter that has one, or else to where Prometheus scrapes them", async () => {
    const { prometheus, first, second, demo } = rig;
    const { expr = "" } = QUERIES.find(({ name }) => name === "exporter_url")?.target ?? {};
    const urls = async () => {
      const series = await prometheus.query(expr);
      return series.map(({ labels }) => labels["external_url"] ?? "").toSorted();
    };
    await eventually(async () => expect(await urls()).toEqual([EXTERNAL_URL]), PATIENT);
    await first.stop();
    const scraped = [second.url, ...demo.addresses.map((address) => `http://${address}`)].toSorted();
    await eventually(async () => expect(await urls()).toEqual(scraped), PATIENT);
  });

  test("without exporters nothing is shown as good", async () => {
    await Promise.all([rig.second.stop(), rig.demo.stop()]);
    await eventually(async () => {
      expect((await tiles()).filter((line) => !line.endsWith(": "))).toEqual([]);
    }, PATIENT);
  });
});
