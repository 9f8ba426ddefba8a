import { setTimeout as delay } from "node:timers/promises";
import type { ReadinessDocument } from "../../src/exporter/document/schema.ts";
import { addBridge } from "../../test/e2e/lab/network.ts";
import type { Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { addNode, type Node } from "./node.ts";
import type { Group, Situation } from "./situations.ts";
import { addVisitor, lossesBetween, visitAfterTakeover, type Visit } from "./visitor.ts";

/** The exporter's predictions for the members of a cluster, by their names. */
export type Predictions = Readonly<Record<string, ReadinessDocument | undefined>>;

export interface Lab {
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly predict: (cluster: string) => Promise<Predictions>;
  /** Lets the servers of a website answer 503 to an address. */
  readonly turnAway: (site: string, address: string) => Promise<void>;
}

export interface Outcome {
  readonly situation: Situation;
  readonly state: string;
  readonly predicted: readonly string[];
  readonly lost: readonly string[];
  readonly isEqual: boolean;
}

/** A prediction must be the same for this time: several intervals of everything that is polled. */
const SETTLED_MS = 6_000;
const LOOK_EVERY_MS = 500;

/** Returns the name of a situation's cluster. */
export function clusterName(nth: number): string {
  return `s${nth + 1}`;
}

export function nodeName(nth: number, order: number): string {
  return `${clusterName(nth)}-${"abc".charAt(order)}`;
}

export function fleetAddress(nth: number, order: number): string {
  return `198.51.100.${10 + 3 * nth + order}`;
}

/** Builds the cluster of a situation, lets its master fail, and compares the prediction with what is lost. */
export async function play(lab: Lab, situation: Situation, nth: number): Promise<Outcome> {
  const { sandbox, folder, predict } = lab;
  const cluster = clusterName(nth);
  const network = `10.77.${nth + 1}`;
  const bridge = `lan-${nth + 1}`;
  await addBridge(sandbox, bridge);
  const nodes: Node[] = [];
  for (const [order, member] of situation.members.entries()) {
    const plan = {
      name: nodeName(nth, order),
      member,
      fleetAddress: fleetAddress(nth, order),
      network,
      bridge,
    };
    nodes.push(await addNode(sandbox, folder, { ...plan, vrrpAddress: `${network}.${11 + order}` }));
    for (const [site, { isDown }] of Object.entries(member.sites))
      if (isDown) await lab.turnAway(site, plan.fleetAddress);
  }
  const groups = situation.members.flatMap((member) => member.groups);
  const addresses = [...new Set(groups.flatMap((group) => addressesOf(group, network)))];
  const visitor = await addVisitor(sandbox, `${cluster}-v`, { bridge, network, addresses });

  for (const node of nodes) await node.start();
  await settled(() => predict(cluster));
  for (const node of nodes) {
    if (node.member.ends === "machine") await node.crash();
    if (node.member.ends === "appliance") await node.endAppliance();
  }
  const predictions = await settled(() => predict(cluster));
  const before = await visitor();
  const failing = nodes[situation.failing ?? 0];
  await (situation.by === "cut" ? failing?.cut() : failing?.crash());
  const after = await visitAfterTakeover(visitor);
  const isRunning = (node: Node) =>
    node.member.ends !== "machine" && (node !== failing || situation.by === "cut");
  for (const node of nodes.filter(isRunning)) await node.crash();

  if (failing === undefined) throw new Error("no member fails");
  return compare(situation, predictions[failing.name], {
    groups: failing.member.groups.map((group) => addressesOf(group, network)),
    before,
    after,
  });
}

function addressesOf({ addresses, excluded }: Group, network: string): readonly string[] {
  return [...addresses, ...excluded].map((address) => `${network}.${address}`);
}

/** Returns the exporter's predictions once they stay the same. */
async function settled(predict: () => Promise<Predictions>): Promise<Predictions> {
  let last = "";
  for (let sameMs = 0; ; sameMs += LOOK_EVERY_MS) {
    const predictions = await predict();
    const said = Object.entries(predictions).map(([name, failover]) => [
      name,
      failover?.state,
      failover?.risks.map(({ risk, successor, subject }) => [risk, successor, subject]),
    ]);
    if (JSON.stringify(said) !== last) sameMs = 0;
    if (sameMs >= SETTLED_MS) return predictions;
    last = JSON.stringify(said);
    await delay(LOOK_EVERY_MS);
  }
}

interface Observed {
  /** The addresses of each group of the member that fails. */
  readonly groups: readonly (readonly string[])[];
  readonly before: Visit;
  readonly after: Visit;
}

function compare(
  situation: Situation,
  prediction: ReadinessDocument | undefined,
  { groups, before, after }: Observed,
): Outcome {
  const absent = groups.flat().filter((address) => !before.nodes.has(address));
  if (absent.length > 0) throw new Error(`nobody had ${absent.join(", ")} before`);
  const heirs = new Set(after.nodes.values());
  const predicted = (prediction?.risks ?? []).flatMap(({ risk, effect, successor, subject }) => {
    if (effect === "outage") return groups.find((group) => group.includes(subject)) ?? subject;
    // Where two members may take over, only the prediction for the one that does can be compared.
    if (effect !== "loss" || (successor !== undefined && !heirs.has(successor))) return [];
    const [name = ""] = subject.split(" ");
    return risk === "website_less_protected" ? `${name} (protection)` : name;
  });
  const outcome = {
    situation,
    state: prediction?.state ?? "absent",
    predicted: [...new Set(predicted)].toSorted(),
    lost: lossesBetween(before, after),
  };
  return { ...outcome, isEqual: isAsExpected(outcome) };
}

function isAsExpected({ situation, state, predicted, lost }: Omit<Outcome, "isEqual">): boolean {
  const areSame = predicted.join() === lost.join();
  if (situation.predicted === "more") return !areSame && lost.every((each) => predicted.includes(each));
  if (situation.predicted !== undefined) return state === situation.predicted;
  return areSame && state !== "unknown" && state !== "absent";
}
