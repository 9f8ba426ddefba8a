import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAULTS_NOW } from "../../monitoring/grafana/dashboard/faults.ts";
import { eventually } from "../support/eventually.ts";
import type { Series } from "../support/prometheus-server.ts";
import { LABEL_QUERIES, PANELS, QUERIES, ROWS, type Panel } from "./committed.ts";
import { fillIn, type Filling } from "./promql.ts";
import { exporterConfig, startRig, type Rig } from "./rig.ts";

/** As Grafana writes several chosen values. */
const FLEET = "(well|split|headless|bare|half|dark|swapped|locked|leaving|brief|silent)";
const FILLING: Filling = { cluster: FLEET, range: "10m" };
const PATIENT = { everyMs: 500 };
const ADDRESS = "192.0.2.100 vhid 2";

let rig: Rig;

/** What the faults' table says, a line a row, worst first. */
async function faults(filling: Filling = FILLING): Promise<readonly string[]> {
  const rows = await rig.prometheus.query(fillIn(FAULTS_NOW, filling));
  return rows
    .map(({ labels, values: [rank] }) => {
      const { fault, ha_cluster: cluster = "", place = "", detail = "" } = labels;
      return `${rank} ${fault} | ${cluster} | ${place} | ${detail}`;
    })
    .toSorted();
}

/** Makes go wrong what was well at the start. */
async function breakThings(): Promise<void> {
  const { fleet, demo, first, second } = rig;
  await Promise.all(["half-2", "dark-1"].map((name) => fleet.appliance(name).stop()));
  fleet.appliance("swapped-1").become("BACKUP");
  fleet.appliance("swapped-2").become("MASTER");
  fleet.appliance("well-2").forget(4);
  // A failover, and a website that goes down.
  demo.step();
  demo.step();
  const staying = fleet.config.appliances.filter((entry) => !JSON.stringify(entry).includes("leaving"));
  const smaller = JSON.stringify(exporterConfig({ ...fleet.config, appliances: staying }));
  for (const exporter of [first, second]) {
    await exporter.write("config.yaml", smaller);
    expect(await exporter.reload()).toBe(true);
  }
  await second.write("config.yaml", "clusters: none\n");
  expect(await second.reload()).toBe(false);
}

/** Until each state of the beginning is in Prometheus, counters included. */
async function seeThingsWell(): Promise<void> {
  await eventually(async () => {
    const masters = await rig.prometheus.query('vrrp_group_master{ha_cluster=~"half|dark|swapped"}');
    expect(masters).toHaveLength(6);
    expect(await rig.prometheus.query('website_up{website="lost"} == 1')).toHaveLength(4);
    expect(
      await rig.prometheus.query('count_over_time(vrrp_is_master{appliance="demo-a"}[1m]) > 3'),
    ).toHaveLength(2);
  }, PATIENT);
}

/** The panel of this title; its queries as the dashboard has them. */
function panelOf(wanted: string): Panel {
  const found = PANELS.find(({ title }) => title === wanted);
  if (found === undefined) throw new Error(`no panel ${wanted}`);
  return found;
}

/** What a panel's query answers now, a line a series: the values of these labels, then its own. */
async function answers(panel: string, labels: readonly string[], query = 0): Promise<readonly string[]> {
  const expr = panelOf(panel).targets[query]?.expr ?? "";
  const series = await rig.prometheus.query(fillIn(expr, FILLING));
  return series.map((one) => textOf(one, labels)).toSorted();
}

function textOf({ labels, values }: Series, wanted: readonly string[]): string {
  return [...wanted.map((label) => labels[label] ?? ""), ...values.slice(-1)].join(" ").trim();
}

describe("a real Prometheus that scrapes the demo and a fleet in trouble", () => {
  beforeAll(async () => {
    rig = await startRig();
    await seeThingsWell();
    await breakThings();
  });

  afterAll(() => rig.stop());

  test("the faults' table has every fault once, worst first, though two exporters see it", async () => {
    await eventually(async () => {
      expect(await faults()).toEqual([
        `11 split brain | split | ${ADDRESS} | `,
        `12 no master | headless | ${ADDRESS} | `,
        `14 master unknown | dark | ${ADDRESS} | `,
        "15 website down | well | down http | ",
        "15 website down | well | secure https | ",
        "16 website not known to be up | well | never  | ",
        `17 no known backup | bare | ${ADDRESS} | `,
        "21 credentials refused | locked | locked | auth",
        "22 appliance down | dark | dark-1 | connect",
        "22 appliance down | half | half-2 | connect",
        "24 website would be down after a failover | well | partly http | ",
        `25 the preferred member is not the master | swapped | ${ADDRESS} | `,
        "26 certificate expires within 14 days | brief | brief | ",
        "27 deviates from the management API | bare | bare-2 | unknown_state",
        `28 configuration invalid, the previous one is in use |  | 127.0.0.1:${rig.second.port} | `,
      ]);
    }, PATIENT);
  });

  test("every number of the overview is right, though two exporters count", async () => {
    await eventually(async () => {
      const tiles = ROWS[0]?.panels.filter(({ type }) => type === "stat") ?? [];
      const numbers = await Promise.all(
        tiles.map(async ({ title: name }) => `${name}: ${(await answers(name, [])).join()}`),
      );
      expect(numbers).toEqual([
        "Split brains: 1",
        "No master known: 2",
        "No known backup: 1",
        "Websites down: 2",
        "Websites unknown: 1",
        "Appliances not watched: 3",
      ]);
    }, PATIENT);
  });

  test("the panels show the exporters' verdicts", async () => {
    await eventually(async () => {
      expect(await answers("State of each group", ["ha_cluster"])).toEqual([
        "bare 3",
        "dark 0",
        "half 1",
        "headless 5",
        "split 6",
        "swapped 1",
        "well 1",
      ]);
      expect(await answers("State of each website", ["website", "protocol"])).toEqual([
        "down http 4",
        "lost http 1",
        "never  0",
        "once http 1",
        "partly http 2",
        "secure https 4",
        "up http 1",
      ]);
    }, PATIENT);
  });

  test("failovers are annotated with the new master, and nothing else is", async () => {
    const { target } = QUERIES.find(({ name }) => name === "annotation Failovers") ?? {};
    await eventually(async () => {
      const events = await rig.prometheus.queryRange(fillIn(target?.expr ?? ""), rig.sinceMs);
      expect(events.map((one) => textOf(one, ["vip", "appliance"])).toSorted()).toEqual([
        "192.0.2.100 demo-b 1",
        "192.0.2.100 swapped-2 1",
        "198.51.100.100 demo-b 1",
      ]);
    }, PATIENT);
  });

  test("no answer about the fleet tells exporters apart", async () => {
    const { sinceMs, prometheus } = rig;
    const fleetRows = ROWS.slice(0, -1).flatMap(({ panels }) => panels);
    const exprs = fleetRows.flatMap(({ targets }) => targets.map(({ expr }) => fillIn(expr, FILLING)));
    const series = (await Promise.all(exprs.map((expr) => prometheus.queryRange(expr, sinceMs)))).flat();
    const labels = new Set(series.flatMap((one) => Object.keys(one.labels)));
    expect([...labels].filter((label) => ["instance", "job", "pod", "site"].includes(label))).toEqual([]);
  });

  test.each(LABEL_QUERIES)("variable $name finds what can be chosen", async ({ name, series, label }) => {
    const values = await rig.prometheus.labelValues(label, fillIn(series));
    const some: Readonly<Record<string, readonly string[]>> = {
      cluster: ["demo", "locked", "well"],
      appliance: ["demo-a", "locked", "well-1"],
      website: ["blog", "never", "up"],
    };
    expect(values).toEqual(expect.arrayContaining([...(some[name] ?? [])]));
    expect(some).toHaveProperty(name);
  });

  test("every query has an answer", async () => {
    const { sinceMs, prometheus } = rig;
    const open = await Promise.all(
      QUERIES.map(async ({ name, target }) => {
        const expr = fillIn(target.expr, { range: "10m" });
        const answer = await (target.instant ? prometheus.query(expr) : prometheus.queryRange(expr, sinceMs));
        return answer.length === 0 ? [name] : [];
      }),
    );
    expect(open.flat()).toEqual([]);
  });

  test("without exporters nothing is shown as good", async () => {
    await Promise.all([rig.first.stop(), rig.second.stop(), rig.demo.stop()]);
    await eventually(async () => {
      expect(await faults({ cluster: ".*" })).toContain("10 no exporter reports an appliance |  |  | ");
    }, PATIENT);
    const tiles = ROWS[0]?.panels.filter(({ type }) => type === "stat") ?? [];
    await eventually(async () => {
      const answered = await Promise.all(tiles.map(({ title }) => answers(title, [])));
      expect(answered.flat()).toEqual([]);
    }, PATIENT);
  });
});
