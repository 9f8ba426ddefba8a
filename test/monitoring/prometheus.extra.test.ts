import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAULTS_NOW } from "../../monitoring/grafana/dashboard/faults.ts";
import { eventually } from "../support/eventually.ts";
import type { Series } from "../support/prometheus-server.ts";
import { LABEL_QUERIES, PANELS, QUERIES, ROWS, type Panel, type Target } from "./committed.ts";
import { alternatives, fillIn, type Filling } from "./promql.ts";
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
  await demo.step();
  await demo.step();
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
    const masters = await rig.prometheus.query('vrrp_group_masters{ha_cluster=~"half|dark|swapped"} == 1');
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

/** Like Grafana: over the range, or at its end. */
async function hasAnswer({ instant }: Pick<Target, "instant">, expr: string): Promise<boolean> {
  const { prometheus, sinceMs } = rig;
  const answer = await (instant ? prometheus.query(expr) : prometheus.queryRange(expr, sinceMs));
  return answer.some(({ values }) => values.some((value) => !Number.isNaN(value)));
}

/** Every query, and every alternative within it, with all clusters chosen and with one that is not there. */
const EXPRESSIONS = QUERIES.flatMap(({ name, target }) =>
  alternatives(fillIn(target.expr, { range: "10m" })).map((expr, index) => ({
    name: index === 0 ? name : `${name}: ${expr}`,
    target,
    exprs: [
      expr,
      ...(expr.includes("absent(") ? [expr.replaceAll('ha_cluster=~".*"', 'ha_cluster=~"nowhere"')] : []),
    ],
  })),
);

/** Those of them that have no answer yet. */
async function withoutAnswer(expressions: typeof EXPRESSIONS): Promise<typeof EXPRESSIONS> {
  const answered = await Promise.all(
    expressions.map(async ({ target, exprs }) =>
      (await Promise.all(exprs.map((expr) => hasAnswer(target, expr)))).includes(true),
    ),
  );
  return expressions.filter((_expression, index) => answered[index] === false);
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
        `11 split brain: more than one master | split | ${ADDRESS} | 2 masters`,
        `12 no master: nobody has the address | headless | ${ADDRESS} | `,
        `13 master unknown: a member does not answer | dark | ${ADDRESS} | `,
        "14 appliance cannot be polled | dark | dark-1 | connect",
        "14 appliance cannot be polled | half | half-2 | connect",
        "14 appliance cannot be polled | locked | locked | auth",
        "15 website down, seen from every appliance that can tell | well | down http | status 0",
        "15 website down, seen from every appliance that can tell | well | secure https | status 0",
        "21 website down, seen from some appliances and not from others | well | partly http | status 503 from well-2",
        `22 no backup: nobody would take over | bare | ${ADDRESS} | `,
        "23 website cannot be tested | well | lost | http_status from well-2",
        "23 website cannot be tested | well | never | http_status from well-1",
        "23 website cannot be tested | well | never | http_status from well-2",
        "23 website cannot be tested | well | once | http_status from well-2",
        "23 website cannot be tested | well | secure | http_status from well-2",
        "24 appliance not polled yet | silent | silent | ",
        "25 appliance no longer reported: removed, or its exporter is not scraped | leaving | leaving | ",
        `26 configuration refused: the previous one is still in use |  | 127.0.0.1:${rig.second.port} | `,
        "27 certificate has expired, or expires within 14 days | brief | brief | ",
        `31 the preferred member is not the master | swapped | ${ADDRESS} | `,
        "32 the appliance's answer deviates from the management API | bare | bare-2 | unknown_state",
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
        "Appliances not answering: 3",
        "Websites down: 3",
        "No backup: 1",
        // Three VRRP lists, and five website tests.
        "Polls failing: state unknown: 8",
      ]);
    }, PATIENT);
  });

  test("a group is well only where all its members are known", async () => {
    await eventually(async () => {
      expect(await answers("State of each group", ["ha_cluster"])).toEqual([
        "bare 3",
        "dark 0",
        "half 2",
        "headless 4",
        "split 5",
        "swapped 1",
        "well 1",
      ]);
    }, PATIENT);
  });

  test("a member that cannot be polled is unknown, not what it was", async () => {
    await eventually(async () => {
      expect(await answers("Who was master when", ["appliance"])).toEqual([
        "bare-1 1",
        "bare-2 2",
        "brief 1",
        "dark-1 -1",
        "dark-2 0",
        "half-1 1",
        "half-2 -1",
        "half-3 0",
        "headless-1 0",
        "headless-2 0",
        "split-1 1",
        "split-2 1",
        "swapped-1 0",
        "swapped-2 1",
        "well-1 1",
        "well-2 0",
      ]);
    }, PATIENT);
  });

  test("a website is up, down with its status, or unknown, from each appliance", async () => {
    await eventually(async () => {
      const views = ["website", "protocol", "appliance"];
      expect(await answers("State of each website, from each appliance", views)).toEqual([
        "down http well-1 0",
        "down http well-2 0",
        "lost http well-1 1",
        "lost http well-2 -1",
        "never  well-1 -1",
        "never  well-2 -1",
        "once http well-1 1",
        "once http well-2 -1",
        "partly http well-1 1",
        "partly http well-2 503",
        "secure https well-1 0",
        "secure https well-2 -1",
        "up http well-1 1",
        "up http well-2 1",
      ]);
      expect(await answers("Websites by appliance now", ["row", "appliance", "cell"])).toEqual([
        "well down http well-1 no answer, down 1",
        "well down http well-2 no answer, down 1",
        "well lost http well-1 200 up 1",
        "well lost http well-2 unknown 1",
        "well never  well-1 unknown 1",
        "well never  well-2 unknown 1",
        "well once http well-1 200 up 1",
        "well once http well-2 unknown 1",
        "well partly http well-1 200 up 1",
        "well partly http well-2 503 down 1",
        "well secure https well-1 no answer, down 1",
        "well secure https well-2 unknown 1",
        "well up http well-1 200 up 1",
        "well up http well-2 200 up 1",
      ]);
    }, PATIENT);
  });

  test("availability has three shares that are the whole range, and time before the first scrape is unknown", async () => {
    const shares = new Map<string, readonly number[]>();
    const { targets } = panelOf("Availability over the range");
    for (const { expr } of targets.slice(0, 3))
      for (const { labels, values } of await rig.prometheus.query(
        fillIn(expr, { ...FILLING, range: "1h" }),
      )) {
        const view = `${labels["website"]} ${labels["appliance"]}`;
        shares.set(view, [...(shares.get(view) ?? []), ...values]);
      }
    const views = [...shares].map(([view, [up = 0, down = 0, unknown = 0]]) => {
      expect(up + down + unknown).toBeCloseTo(1, 2);
      // Of an hour some minutes at most were seen.
      expect(unknown).toBeGreaterThan(0.8);
      // On a busy machine an appliance may find a website down for a moment that is up.
      const mostly = up > down ? "up" : "down";
      return `${view}: ${up === down ? "never known" : mostly}`;
    });
    expect(views.toSorted()).toEqual([
      "down well-1: down",
      "down well-2: down",
      "lost well-1: up",
      "lost well-2: up",
      "never well-1: never known",
      "never well-2: never known",
      "once well-1: up",
      "once well-2: never known",
      "partly well-1: up",
      "partly well-2: down",
      "secure well-1: down",
      "secure well-2: never known",
      "up well-1: up",
      "up well-2: up",
    ]);
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

  test("every query and every alternative in it has an answer once, and nothing that is not scraped is shown as good", async () => {
    let open = EXPRESSIONS;
    await eventually(async () => {
      open = await withoutAnswer(open);
      // What comes when an exporter cannot be scraped any more.
      expect(open.filter(({ name }) => !name.includes("up == 0 and")).map(({ name }) => name)).toEqual([]);
    }, PATIENT);

    await rig.second.stop();
    const gone = `16 exporter cannot be scraped |  | 127.0.0.1:${rig.second.port} | `;
    await eventually(async () => expect(await faults()).toContain(gone), PATIENT);
    await eventually(async () => {
      open = await withoutAnswer(open);
      expect(open.map(({ name }) => name)).toEqual([]);
    }, PATIENT);

    await rig.first.stop();
    await rig.demo.stop();
    await eventually(async () => {
      expect(await faults({ cluster: ".*" })).toContain(
        "10 nothing is known: no exporter reports an appliance |  |  | ",
      );
    }, PATIENT);
    const tilesAndGroups = ROWS.slice(0, 2)
      .flatMap(({ panels }) => panels)
      .filter(({ title: name }) => name !== "What is wrong now");
    await eventually(async () => {
      const known = await Promise.all(
        tilesAndGroups.map(async ({ title: name, targets: [target] }) => {
          const answer = await rig.prometheus.query(fillIn(target?.expr ?? ""));
          return answer.length === 0 ? [] : [name];
        }),
      );
      expect(known.flat()).toEqual([]);
    }, PATIENT);
  });
});
