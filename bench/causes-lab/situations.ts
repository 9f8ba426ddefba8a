import { setTimeout as delay } from "node:timers/promises";
import type { Cause } from "../../src/exporter/judge/states.ts";
import type { VrrpInstance } from "../../test/e2e/lab/keepalived.ts";
import type { Node } from "../failover-lab/node.ts";
import type { Member } from "../failover-lab/situations.ts";

/** The machines of a cluster; `a` has the highest priority. */
export type Letter = "a" | "b" | "c";

export interface Scene {
  readonly node: (letter: Letter) => Node;
  /** Lets the script of a node fail, or succeed again. */
  readonly setFailing: (letter: Letter, isFailing: boolean) => Promise<void>;
}

/** An action, and the reports about it that are right. */
export interface Step {
  readonly name: string;
  readonly act: (scene: Scene) => Promise<void>;
  /**
   * The failover that follows. If it is `undefined`, the master stays, and the exporter may only report that an appliance cannot be polled.
   */
  readonly takeover?: Takeover;
  /** The time to watch, which is longer than the exporter needs for its final report; default: 20 s. */
  readonly watchMs?: number;
}

interface Takeover {
  readonly from: Letter;
  readonly to: Letter;
  readonly cause: Cause;
  /** Less precise causes that are right too, besides `unknown`. */
  readonly alsoTrue?: readonly Cause[];
  /** The number of times that the members take over from each other, and the time between. `a` is the one that gives way. */
  readonly repeated?: { readonly times: number; readonly everyMs: number };
}

export interface MemberPlan {
  readonly priority: number;
  readonly sites?: Member["sites"];
  /** The priority in a second group. */
  readonly second?: number;
  readonly vrrp?: Partial<VrrpInstance>;
  /** Whether the priority of the member depends on a script. */
  readonly hasScript?: boolean;
  /** Whether the member tracks a device. */
  readonly isTracking?: boolean;
}

export interface Situation {
  readonly members: readonly MemberPlan[];
  readonly steps: readonly Step[];
}

const A = { priority: 200 };
const B = { priority: 150 };
const C = { priority: 100 };
const PAIR = [A, B];
const NOPREEMPT = { more: ["nopreempt"] };
const TO_B = { from: "a", to: "b" } as const;
const BACK = { from: "b", to: "a" } as const;
const BY_PRIORITY = { cause: "priority", alsoTrue: ["stepped_down"] } as const;
const BY_PREEMPTION = { cause: "preempted", alsoTrue: ["stepped_down"] } as const;
const TURN_MS = 15_000;
const TURNS = 5;
/** The time between the stop of services and the end of the network. */
const SHUTDOWN_MS = 1_000;
const PREEMPT_DELAY_S = 15;
/** After this time, a member that takes over is not said to preempt. */
const AFTER_RETURN_MS = 45_000;

const KILLED: Step = {
  name: "killed",
  act: ({ node }) => node("a").kill(),
  takeover: { ...TO_B, cause: "silent" },
};
const startA: Step["act"] = ({ node }) => node("a").start();

export const SITUATIONS: readonly Situation[] = [
  {
    members: [{ ...A, hasScript: true }, { ...B }],
    steps: [
      {
        name: "health script by turns",
        act: async ({ setFailing }) => {
          for (let turn = 1; turn <= TURNS; turn++) {
            await setFailing("a", turn % 2 === 1);
            if (turn < TURNS) await delay(TURN_MS);
          }
        },
        takeover: { ...TO_B, ...BY_PRIORITY, repeated: { times: TURNS, everyMs: TURN_MS } },
      },
    ],
  },
  {
    members: PAIR.map((each) => ({ ...each, vrrp: NOPREEMPT })),
    steps: [
      KILLED,
      { name: "return with nopreempt", act: startA, watchMs: AFTER_RETURN_MS },
      {
        name: "then by hand: restart of the other keepalived",
        act: async ({ node }) => {
          const { keepalived } = node("b");
          await keepalived.stop();
          await keepalived.start();
        },
        takeover: { ...BACK, cause: "stepped_down" },
      },
    ],
  },
  {
    members: PAIR,
    steps: [
      {
        name: "clean reboot",
        act: async ({ node }) => {
          await node("a").keepalived.stop();
          await delay(SHUTDOWN_MS);
          await node("a").crash();
        },
        takeover: { ...TO_B, cause: "silent" },
      },
      { name: "return after it", act: startA, takeover: { ...BACK, ...BY_PREEMPTION } },
    ],
  },
  {
    members: [{ ...A, vrrp: { more: [`preempt_delay ${PREEMPT_DELAY_S}`] } }, B],
    steps: [
      KILLED,
      {
        name: "return with preempt_delay",
        act: startA,
        takeover: { ...BACK, ...BY_PREEMPTION },
        watchMs: 20_000 + 1_000 * PREEMPT_DELAY_S,
      },
    ],
  },
  {
    members: PAIR,
    steps: [KILLED, { name: "return with preemption", act: startA, takeover: { ...BACK, ...BY_PREEMPTION } }],
  },
  {
    members: PAIR,
    steps: [
      { name: "management network cut", act: ({ node }) => node("a").fleetLink.unplug() },
      { name: "connected again", act: ({ node }) => node("a").fleetLink.plug() },
    ],
  },
  {
    members: PAIR,
    steps: [
      {
        name: "cut off from exporter and peer",
        act: ({ node }) => node("a").cut(),
        takeover: { ...TO_B, cause: "silent" },
      },
    ],
  },
  {
    members: PAIR,
    steps: [
      {
        name: "keepalived stopped, its appliance answers 503",
        act: ({ node }) => node("a").keepalived.stop(),
        takeover: { ...TO_B, cause: "unknown" },
      },
    ],
  },
  {
    members: PAIR,
    steps: [
      {
        name: "priority lowered by a reload",
        act: ({ node }) => node("a").keepalived.setPriority(100),
        takeover: { ...TO_B, ...BY_PRIORITY },
      },
    ],
  },
  {
    members: PAIR,
    steps: [
      {
        name: "priority of the backup raised by a reload",
        act: ({ node }) => node("b").keepalived.setPriority(220),
        takeover: { ...TO_B, ...BY_PRIORITY },
      },
    ],
  },
  {
    members: [{ ...A, hasScript: true }, B],
    steps: [
      {
        name: "health script fails",
        act: ({ setFailing }) => setFailing("a", true),
        takeover: { ...TO_B, ...BY_PRIORITY },
      },
    ],
  },
  {
    members: [{ ...A, isTracking: true }, B],
    steps: [
      {
        name: "FAULT by track_interface",
        act: ({ node }) => node("a").setTracked(false),
        takeover: { ...TO_B, cause: "fault" },
      },
    ],
  },
  {
    members: [A, B, C],
    steps: [
      {
        name: "killed, and the successor with it",
        act: async ({ node }) => {
          await Promise.all([node("a").kill(), node("b").kill()]);
        },
        takeover: { from: "a", to: "c", cause: "silent" },
      },
    ],
  },
  {
    members: [
      { ...A, second: 100 },
      { ...B, second: 200 },
    ],
    steps: [{ ...KILLED, name: "one of two masters killed" }],
  },
];
