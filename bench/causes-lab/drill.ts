import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { formatTable } from "../../src/exporter/command/format.ts";
import type { DrillReport } from "../../src/operator/drill-report.ts";
import { groupBy } from "../../src/support/group-by.ts";
import { start } from "../../test/e2e/lab/process.ts";
import { COMMAND } from "../../test/support/command.ts";
import { eventually } from "../../test/support/eventually.ts";
import { toolPath } from "../../test/support/tool.ts";
import { inLab, startExporter } from "../failover-lab/exporter.ts";
import { NAME_PORT, sitePort, startServers, type Node } from "../failover-lab/node.ts";
import { fleetAddress } from "../failover-lab/play.ts";
import { SITE } from "../failover-lab/situations.ts";
import { addCluster, addVisitor, longestGap, visitsIn, type Lab, type Visit } from "./play.ts";

/**
 * `npm run lab:drill [-- --runs=N]` rehearses failovers of pairs of real keepalived, there and back, with the command `drill`. It compares
 * the times in the reports with those of visitors, who request the address and a website every 10 ms. It exits with 1 if "about" is more
 * than a second off, or if "at most" is shorter than the time of the visitors.
 */
const VISIT_EVERY_MS = 10;
const TOLERANCE_MS = 1_000;
/** The time for which the other member stays MASTER. */
const AWAY_MS = 8_000;
const SITES = { shop: SITE };
const MEMBERS = [
  { priority: 200, sites: SITES },
  { priority: 150, sites: SITES },
];

interface Plan {
  readonly name: string;
  /** The command that the drill runs, in the folder of the node. */
  readonly fail: (node: Node) => string;
  readonly heal: (node: Node) => Promise<void>;
  /** Whether the website is down at the other member. */
  readonly isShopLost?: boolean;
}

const CUT: Plan = {
  name: "network cut",
  fail: ({ name }) => `ip link set ${name}.v down; ip link set ${name}.f down`,
  heal: (node) => node.connect(),
};
const LOWERED: Plan = {
  name: "priority lowered",
  fail: ({ name }) => `echo -100 > ${name}/priority-shift`,
  heal: ({ keepalived }) => keepalived.shiftPriority(0),
};
const PLANS: readonly Plan[] = [
  {
    name: "keepalived stopped",
    fail: ({ name }) => `kill $(cat ${name}/keepalived.pid)`,
    heal: ({ keepalived }) => keepalived.start(),
  },
  LOWERED,
  CUT,
  { ...CUT, name: "network cut, shop is down at the other", isShopLost: true },
  { ...LOWERED, name: "priority lowered, shop is down at the other", isShopLost: true },
];

interface DarkTime {
  readonly plan: string;
  /** The address or the website, and the direction of the failover. */
  readonly what: string;
  readonly visitorsMs: number;
  readonly aboutMs: number;
  readonly atMostMs: number;
}

const { values } = parseArgs({ options: { runs: { type: "string", default: "3" } } });
const runs = Number(values.runs);
if (!(runs > 0)) throw new Error(`--runs: expected a number above 0, got "${values.runs}"`);
const plans = Array.from({ length: runs }, () => PLANS).flat();
toolPath("curl");
const situations = plans.map(() => ({ members: MEMBERS }));
const times = await inLab(situations, "drill", async (network) => {
  const servers = await startServers(network.sandbox, network.folder);
  const { fleet, access } = await startExporter(network.sandbox, network.folder, {
    website_discovery: true,
    clusters: network.clusters,
  });
  const all: DarkTime[] = [];
  for (const [nth, plan] of plans.entries()) {
    if (plan.isShopLost)
      await servers.find(({ name }) => name === "shop")?.setMaintenance(true, fleetAddress(nth, 1));
    all.push(...(await rehearse({ ...network, exporters: [{ polls: "", fleet }] }, access, plan, nth)));
  }
  return all;
});
const rows = [...groupBy(times, ({ plan, what }) => `${plan} ${what}`).values()].map((same) => {
  return [
    same[0]?.plan ?? "",
    same[0]?.what ?? "",
    range(same.map(({ visitorsMs }) => visitorsMs)),
    range(same.map(({ aboutMs }) => aboutMs)),
    range(same.map(({ aboutMs, visitorsMs }) => aboutMs - visitorsMs)),
    range(same.map(({ atMostMs }) => atMostMs)),
    same.every(isTrue) ? "yes" : "NO",
  ];
});
process.stdout.write(formatTable(["drill", "dark", "visitors", "about", "off", "at most", "true"], rows));
process.exitCode = times.every(isTrue) ? 0 : 1;

function isTrue({ visitorsMs, aboutMs, atMostMs }: DarkTime): boolean {
  return Math.abs(aboutMs - visitorsMs) <= TOLERANCE_MS && atMostMs >= visitorsMs;
}

/** Rehearses one failover, there and back. */
async function rehearse(
  lab: Lab,
  access: readonly string[],
  plan: Plan,
  nth: number,
): Promise<readonly DarkTime[]> {
  const { cluster, lan, nodes } = await addCluster(lab, MEMBERS, nth);
  const [node] = nodes;
  if (node === undefined) throw new Error("a pair has members");
  const ports = [NAME_PORT, sitePort("shop")];
  const visitors = await Promise.all(
    ports.map((port, order) =>
      addVisitor(lab, `${cluster}-${order}`, { ...lan, nth: order, port, everyMs: VISIT_EVERY_MS }),
    ),
  );
  for (const { fleet } of lab.exporters)
    await eventually(async () => {
      const found = (await fleet()).clusters.find(({ name }) => name === cluster);
      const state = found?.appliances[0]?.failover?.state;
      if (state !== (plan.isShopLost ? "losses" : "ready")) throw new Error(`${cluster}: ${state}`);
    });
  const begunMs = Date.now();
  const flags = ["--both-ways", "--accept-losses", "--output=json", `--command=${plan.fail(node)}`];
  const command = [process.execPath, COMMAND, "drill", node.name, ...access, ...flags];
  const drill = start(lab.sandbox, command, {
    name: `drill-${cluster}`,
    place: "lab",
    folder: lab.folder,
  });
  await drill.printed(/Now let \S+ be a BACKUP/);
  await delay(AWAY_MS);
  const backMs = Date.now();
  await plan.heal(node);
  const report: DrillReport = await eventually(async () => {
    const text = await drill.output();
    return JSON.parse(text.slice(text.indexOf("\n{")));
  });
  const [address = [], shop = []] = await Promise.all(
    visitors.map(async (visitor) => {
      await visitor.end("SIGKILL");
      return visitsIn(await visitor.output());
    }),
  );
  for (const each of nodes) await each.crash();
  if (report.verdict !== "pass") throw new Error(`${plan.name}: ${report.reasons.join("; ")}`);

  const reported = (about = Number.NaN, atMost = Number.NaN) => {
    return { plan: plan.name, aboutMs: about * 1_000, atMostMs: atMost * 1_000 };
  };
  const ways = ["there", "back"].flatMap((way) => {
    const isBack = way === "back";
    const failover = report.failovers.find(({ to }) => (to === node.name) === isBack);
    const told = reported(failover?.withoutMasterAboutSeconds, failover?.withoutMasterAtMostSeconds);
    const gapIn = (visits: readonly Visit[]) =>
      longestGap(visits.filter(({ sentMs }) => sentMs >= begunMs && sentMs >= backMs === isBack));
    const ofShop = { ...told, what: `shop, ${way}`, visitorsMs: gapIn(shop) };
    return [
      { ...told, what: `address, ${way}`, visitorsMs: gapIn(address) },
      ...(plan.isShopLost ? [] : [ofShop]),
    ];
  });
  const [outage] = report.outages;
  if (!plan.isShopLost) return ways;
  const told = reported(outage?.aboutSeconds, outage?.atMostSeconds);
  return [...ways, { ...told, what: "shop", visitorsMs: longestGap(shop) }];
}

function range(all: readonly number[]): string {
  const [least, most] = [Math.min(...all), Math.max(...all)].map((ms) => `${(ms / 1_000).toFixed(2)}s`);
  return least === most ? `${most}` : `${least} to ${most}`;
}
