import type { Case } from "./cases/case.ts";
import { planCluster, type NodePlan } from "./lab/fleet.ts";
import type { Lab } from "./lab/lab.ts";
import type { Node } from "./lab/node.ts";
import type { Row } from "./report.ts";
import type { Scene } from "./scene.ts";

type Line = Omit<Row, "seconds">;

/** The lines that a run's table has, found out without a lab: all that the cases wait for comes at once. */
export async function rehearse(cases: readonly Case[]): Promise<readonly Line[]> {
  const played = cases.map(async ({ play }) => {
    const lines: Line[] = [];
    await play(createEasyScene(lines), IDLE_LAB);
    return lines;
  });
  return (await Promise.all(played)).flat();
}

function createEasyScene(lines: Line[]): Scene {
  return {
    happens: async (event, act) => {
      await act();
      return {
        tells: async (...alerts) =>
          void lines.push(...alerts.map((alert) => ({ event, alert, status: "firing" }) as const)),
        resolves: async (...alerts) =>
          void lines.push(...alerts.map((alert) => ({ event, alert, status: "resolved" }) as const)),
      };
    },
    isFiring: nothing,
    expected: () => [],
    rows: () => [],
  };
}

async function nothing(): Promise<void> {}

const LINK = { plug: nothing, unplug: nothing, isolate: nothing };
const PROGRAM = { start: nothing, stop: nothing, crash: nothing };

function idleNode({ name }: NodePlan): Node {
  const keepalived = { ...PROGRAM, shiftPriority: nothing };
  return { ...PROGRAM, name, keepalived, fleetLink: LINK, vrrpLink: LINK };
}

const IDLE_LAB: Lab = {
  cluster: (clusterName) => {
    const { name, vhid, vip, nodes } = planCluster(clusterName);
    return { name, vhid, vip, preferred: idleNode(nodes[0]), other: idleNode(nodes[1]) };
  },
  website: (name) => ({
    ...PROGRAM,
    id: 0,
    name,
    httpPort: 80,
    httpsPort: 443,
    setMaintenance: nothing,
    setCertificate: nothing,
    freeze: nothing,
    thaw: nothing,
  }),
  exporter: (name) => ({ ...PROGRAM, name, fleetLink: LINK }),
  issue: async () => "",
  setPassword: nothing,
  query: async () => [],
  notifications: async () => "",
  close: nothing,
};
