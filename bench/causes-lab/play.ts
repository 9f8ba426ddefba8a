import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { IncidentDocument } from "../../src/exporter/document/schema.ts";
import type { Cause } from "../../src/exporter/judge/states.ts";
import { addBridge, addLink, addNamespace } from "../../test/e2e/lab/network.ts";
import { start, type Running } from "../../test/e2e/lab/process.ts";
import type { Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { Fleet } from "../failover-lab/exporter.ts";
import { addNode, NAME_PORT, type Node } from "../failover-lab/node.ts";
import { clusterName, fleetAddress, nodeName } from "../failover-lab/play.ts";
import type { Letter, MemberPlan, Scene, Situation, Step } from "./situations.ts";

export interface Lab {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The exporters, which poll the same appliances. */
  readonly exporters: readonly { readonly polls: string; readonly fleet: Fleet }[];
}

/** The report of an exporter about a step. */
export interface Outcome {
  readonly step: Step;
  readonly polls: string;
  readonly cause: Cause | undefined;
  /** The whole report, if it is wrong. */
  readonly wrong: string | undefined;
  /** The time in which nobody had the address, from the first request without an answer to the last one. */
  readonly gapMs: number;
  /** The time without a known master. */
  readonly atMostMs: number | undefined;
}

/** This is longer than the time in which several failovers are reported as one. */
const SETTLED_MS = 12_000;
const WATCH_MS = 20_000;
const VISIT_EVERY_MS = 50;
/** Polls and VRRP delay each takeover by up to this time. */
const PERIOD_TOLERANCE_MS = 2_500;
const WEIGHT = 100;
const ADVERT_SECONDS = 1;
const VISITOR = fileURLToPath(new URL("visitor.ts", import.meta.url));

/** Builds the cluster of a situation, takes its steps, and compares the exporters' reports with the real causes. */
export async function play(lab: Lab, situation: Situation, nth: number): Promise<readonly Outcome[]> {
  const { exporters } = lab;
  const { cluster, nodes, lan } = await addCluster(lab, situation.members, nth);
  const scene = sceneOf(lab, nodes);
  const visitor = await addVisitor(lab, `${cluster}-v`, { ...lan, port: NAME_PORT, everyMs: VISIT_EVERY_MS });
  await delay(SETTLED_MS);

  const outcomes: Outcome[] = [];
  for (const step of situation.steps) {
    const fromMs = Date.now();
    await step.act(scene);
    await delay(step.watchMs ?? WATCH_MS);
    const visits = visitsIn(await visitor.output()).filter(({ sentMs }) => sentMs >= fromMs);
    const has = visits.at(-1)?.answer;
    if (step.takeover !== undefined && has !== scene.node(step.takeover.to).name)
      throw new Error(`not as planned: ${has ?? "nobody"} has the address after "${step.name}"`);
    const gapMs = longestGap(visits);
    for (const { polls, fleet } of exporters) {
      const { incidents } = await fleet();
      const begun = incidents.filter((each) => each.cluster === cluster && Date.parse(each.begin) >= fromMs);
      outcomes.push({ step, polls, gapMs, ...judged(step, begun, scene) });
    }
  }
  await visitor.end("SIGKILL");
  for (const each of nodes) await each.crash();
  return outcomes;
}

/** Builds a cluster that never failed over: each node starts once the first one is MASTER. */
export async function addCluster(lab: Lab, members: readonly MemberPlan[], nth: number) {
  const cluster = clusterName(nth);
  const lan = { network: `10.77.${nth + 1}`, bridge: `lan-${nth + 1}` };
  await addBridge(lab.sandbox, lan.bridge);
  const nodes = await addNodes(lab, members, nth, lan);
  const isFirstMaster = async (fleet: Fleet) => {
    const groups = (await fleet()).clusters.find(({ name }) => name === cluster)?.groups ?? [];
    if (!groups.some(({ master }) => master === nodes[0]?.name)) throw new Error(`${cluster} has no MASTER`);
  };
  for (const each of nodes) {
    await each.start();
    for (const { fleet } of lab.exporters) await eventually(() => isFirstMaster(fleet));
  }
  return { cluster, lan, nodes };
}

async function addNodes(
  { sandbox, folder }: Lab,
  members: readonly MemberPlan[],
  nth: number,
  lan: { readonly network: string; readonly bridge: string },
): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for (const [order, { priority, second, sites = {}, vrrp, hasScript, isTracking }] of members.entries()) {
    const name = nodeName(nth, order);
    const group = { vhid: 1, priority, addresses: [100], excluded: [], isPreferred: false };
    const more = second === undefined ? [] : [{ ...group, vhid: 2, priority: second, addresses: [110] }];
    const failing = hasScript ? { file: failingFile(folder, name), weight: WEIGHT } : undefined;
    const node = await addNode(sandbox, folder, {
      ...lan,
      name,
      member: { groups: [group, ...more], sites, ...(isTracking && { is: "in_fault" }) },
      fleetAddress: fleetAddress(nth, order),
      vrrpAddress: `${lan.network}.${11 + order}`,
      vrrp: { advertSeconds: ADVERT_SECONDS, ...vrrp, ...(failing && { failing }) },
    });
    await node.setTracked(true);
    nodes.push(node);
  }
  return nodes;
}

function sceneOf({ folder }: Lab, nodes: readonly Node[]): Scene {
  const node = (letter: Letter): Node => {
    const found = nodes["abc".indexOf(letter)];
    if (found === undefined) throw new Error(`no node ${letter}`);
    return found;
  };
  return {
    node,
    setFailing: async (letter, isFailing) => {
      const file = failingFile(folder, node(letter).name);
      await (isFailing ? writeFile(file, "") : rm(file));
    },
  };
}

function failingFile(folder: string, node: string): string {
  return join(folder, `${node}.failing`);
}

/** Lets a visitor request a port of the first address from now on. */
export async function addVisitor(
  { sandbox, folder }: Lab,
  namespace: string,
  {
    bridge,
    network,
    nth = 0,
    port,
    everyMs,
  }: {
    readonly bridge: string;
    readonly network: string;
    readonly nth?: number;
    readonly port: number;
    readonly everyMs: number;
  },
): Promise<Running> {
  await addNamespace(sandbox, namespace);
  await addLink(sandbox, { namespace, device: "vrrp0", bridge, address: `${network}.${5 + nth}/24` });
  const command = [process.execPath, "--import", import.meta.resolve("tsx"), VISITOR];
  const visitor = start(sandbox, [...command, `${network}.100`, String(port), String(everyMs)], {
    name: namespace,
    place: { namespace },
    folder,
  });
  await visitor.printed(/^\d+ \w/m);
  return visitor;
}

export interface Visit {
  readonly sentMs: number;
  /** The node that answered; `undefined` if nobody has. */
  readonly answer: string | undefined;
}

export function visitsIn(output: string): readonly Visit[] {
  const lines = output.slice(0, output.lastIndexOf("\n")).split("\n");
  return lines.map((line) => {
    const [sentMs, answer] = line.split(" ");
    return { sentMs: Number(sentMs), answer: answer === "-" ? undefined : answer };
  });
}

export function longestGap(visits: readonly Visit[]): number {
  let answeredNth = -1;
  const gaps = visits.map(({ sentMs, answer }, nth) => {
    if (answer !== undefined) answeredNth = nth;
    return answer === undefined ? sentMs - (visits[answeredNth + 1]?.sentMs ?? sentMs) : 0;
  });
  return Math.max(0, ...gaps);
}

function judged(
  { takeover }: Step,
  begun: readonly IncidentDocument[],
  scene: Scene,
): Pick<Outcome, "cause" | "wrong" | "atMostMs"> {
  const failovers = begun.flatMap(({ failover }) => failover ?? []);
  const [said] = failovers;
  const kinds = begun.map(({ kind }) => kind);
  const isRight =
    takeover === undefined
      ? kinds.every((kind) => kind === "appliance_down")
      : failovers.length === 1 && !kinds.includes("split_brain") && isTrue(takeover, said, scene);
  return {
    cause: said?.cause,
    wrong: isRight
      ? undefined
      : JSON.stringify(begun.map(({ kind, summary, failover }) => ({ kind, summary, failover }))),
    atMostMs: said?.withoutMasterAtMostSeconds && said.withoutMasterAtMostSeconds * 1_000,
  };
}

function isTrue(
  { from, to, cause, alsoTrue = [], repeated }: NonNullable<Step["takeover"]>,
  said: IncidentDocument["failover"],
  { node }: Scene,
): boolean {
  if (said === undefined) return false;
  const areThey = said.from === node(from).name && said.to === node(to).name;
  const trueCauses: readonly Cause[] = [cause, ...alsoTrue, "unknown"];
  const { count, periodSeconds = 0, letsGo } = said.repeated ?? {};
  const isTold =
    repeated === undefined
      ? count === undefined
      : count === repeated.times &&
        Math.abs(periodSeconds * 1_000 - repeated.everyMs) <= PERIOD_TOLERANCE_MS &&
        letsGo === node("a").name;
  return areThey && trueCauses.includes(said.cause) && isTold;
}
