import type { OwnFacts } from "../../src/exporter/judge/own-problems.ts";
import { WALL_MS } from "../support/observations.ts";
import { coverOf } from "./cover.ts";
import { judged, type Course } from "./judged.ts";
import { PAIR_SCENARIOS } from "./pair-scenarios.ts";
import { PLANNED_SCENARIOS } from "./planned-scenarios.ts";
import { RESTING_SCENARIOS } from "./resting-scenarios.ts";
import { alert, at, EVENT, type Expected, type Scenario } from "./scenario.ts";
import { SITE_SCENARIOS } from "./site-scenarios.ts";
import { TROUBLES, type Trouble } from "./troubles.ts";
import {
  exporter,
  healthy,
  series,
  type Exporter,
  type ExporterSetup,
  type Series,
  type Steps,
} from "./world.ts";

const JOB = { job: "appliance-exporter" };

/** An exporter that polls these clusters. */
async function watching(
  instance: string,
  courses: readonly Course[],
  lastsSeconds: number,
  setup: ExporterSetup = {},
  ownAt?: (second: number) => Partial<OwnFacts>,
): Promise<Exporter> {
  return exporter(instance, await judged(courses, lastsSeconds, ownAt), setup);
}

/** A pair that answers so from the event until then. */
function pair(cluster: string, answer?: string, until = 300): Course {
  if (answer === undefined) return { cluster, members: { a: [[0, "MASTER"]], b: [[0, "BACKUP"]] } };
  return {
    cluster,
    members: {
      a: at("MASTER", [0, answer], [until, "MASTER"]),
      b: at("BACKUP", [0, answer], [until, "BACKUP"]),
    },
  };
}

const TWO = [pair("ams"), pair("utr")];
const SPLIT: Course = {
  cluster: "split",
  members: { a: [[0, "MASTER"]], b: at("BACKUP", [-100, "MASTER"]) },
};
const SPLIT_UNTIL: Course = {
  ...SPLIT,
  members: { a: [[0, "MASTER"]], b: at("BACKUP", [-100, "MASTER"], [200, "BACKUP"]) },
};
const FAILOVER: Course = {
  cluster: "ams",
  members: { a: at("MASTER", [0, "BACKUP"]), b: at("BACKUP", [0, "MASTER"]) },
};
const ENDS: Steps<0 | 1> = at<0 | 1>(1, [0, 0]);

/** One poll a second until then. */
function pollsUntil(second: number): Series {
  const labels = { operation: "vrrp" };
  const valueAt = (now: number) => Math.min(now, second);
  return { metric: "appliance_exporter_poll_duration_seconds_count", labels, valueAt };
}

/** An exporter has a fault at its side. */
function stuck(severity: "critical" | "warning", after: number, more: Partial<Expected> = {}): Expected {
  return alert("ApplianceExporterStuck", { ...JOB, instance: "one:1", severity }, after, more);
}

/** An exporter that sees all of these, each in a cluster of its own. */
function together(name: string, troubles: readonly Trouble[]): Scenario {
  const lastsSeconds = EVENT + 900;
  const courses = [...healthy(12), ...troubles.map(({ course }) => course)];
  return {
    name,
    exporters: async () => [await watching("one:1", courses, lastsSeconds)],
    expected: troubles.flatMap(({ expected }) => expected),
    lastsSeconds,
  };
}

const TOGETHER = [0, 1, 2].map((part) =>
  together(
    `troubles of single clusters, part ${part + 1}`,
    TROUBLES.filter((_, nth) => nth % 3 === part),
  ),
);

const OWN_TROUBLES: Partial<OwnFacts> = {
  loadedAtMs: WALL_MS,
  reloadFailedAtMs: WALL_MS + EVENT * 1000,
  storageFailure: { detail: "ENOSPC: no space left on device, write '/x'", sinceMs: WALL_MS + EVENT * 1000 },
  late: { sinceMs: WALL_MS + EVENT * 1000, operation: "vrrp", count: 12, meanSeconds: 2.5 },
};

const ALONE: readonly Scenario[] = [
  {
    name: "nothing is wrong, with two exporters, one of which restarts",
    exporters: async () => [
      await watching("one:1", healthy(4), EVENT + 300),
      await watching("two:1", healthy(4), EVENT + 300, { up: at<0 | 1>(1, [0, 0], [20, 1]) }),
    ],
    expected: [],
    lastsSeconds: EVENT + 300,
  },
  ...(["silent", "broken", "refuses"] as const).map((answer): Scenario => ({
    name: `all appliances are ${answer} to the only exporter`,
    exporters: async () => [await watching("one:1", [pair("ams", answer), pair("utr", answer)], EVENT + 600)],
    expected: [alert("ApplianceExporterBlind", { ...JOB, shard: "0", total: "1" }, 10, { until: 300 })],
    lastsSeconds: EVENT + 600,
  })),
  {
    name: "the exporter cannot poll one cluster by its own fault",
    exporters: async () => [
      await watching("one:1", [...healthy(4), pair("ams", "broken", 400)], EVENT + 700),
    ],
    expected: [stuck("critical", 60, { until: 460 })],
    lastsSeconds: EVENT + 700,
  },
  {
    name: "the exporter cannot poll a backup by its own fault, and later its master",
    exporters: async () => [
      await watching(
        "one:1",
        [
          ...healthy(4),
          { cluster: "ams", members: { a: at("MASTER", [300, "broken"]), b: at("BACKUP", [0, "broken"]) } },
        ],
        EVENT + 500,
      ),
    ],
    expected: [stuck("warning", 180, { until: 360 }), stuck("critical", 360)],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "the only exporter dies during an outage, and is back later",
    exporters: async () => [
      await watching("one:1", [...TWO, ...healthy(1), SPLIT], EVENT + 900, {
        up: at<0 | 1>(1, [0, 0], [600, 1]),
      }),
    ],
    expected: [
      alert("VrrpSplitBrain", { ha_cluster: "split" }, -100),
      alert("ApplianceExporterAbsent", {}, 120, { until: 600 }),
    ],
    lastsSeconds: EVENT + 900,
  },
  {
    name: "the only exporter starts anew during a failover, without a journal",
    exporters: async () => {
      const says = await judged([...healthy(2), FAILOVER], EVENT + 500);
      const forgotten = says
        .filter(({ labels }) => labels["kind"] !== "failover")
        .map((each): Series => {
          const valueAt = (second: number) =>
            second >= EVENT - 5 && second < EVENT + 20 ? undefined : each.valueAt(second);
          return { ...each, valueAt };
        });
      return [exporter("one:1", forgotten, { started: at(-1000, [5, EVENT + 5]) })];
    },
    expected: [alert("VrrpFailover", { ha_cluster: "ams", appliance: "b" }, 20, { until: 240 })],
    lastsSeconds: EVENT + 500,
    intervals: [2, 5, 15],
  },
  {
    name: "one of two exporters dies",
    exporters: async () => [
      await watching("one:1", TWO, EVENT + 500, { up: ENDS }),
      await watching("two:1", TWO, EVENT + 500),
    ],
    expected: [alert("ApplianceExporterDown", { ...JOB, instance: "one:1", severity: "warning" }, 180)],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "one of two exporters stops polling, and the other one dies",
    exporters: async () => [
      exporter("one:1", [...(await judged(TWO, EVENT + 600)), pollsUntil(EVENT)]),
      exporter("two:1", [...(await judged(TWO, EVENT + 600)), pollsUntil(Number.POSITIVE_INFINITY)], {
        up: at<0 | 1>(1, [300, 0]),
      }),
    ],
    expected: [
      alert("ApplianceExporterWatchdog", {}, 60 - EVENT, { until: 330 }),
      alert("ApplianceExporterDown", { ...JOB, instance: "two:1", severity: "warning" }, 480),
    ],
    lastsSeconds: EVENT + 600,
    intervals: [5, 30],
  },
  {
    name: "the exporter of a shard dies",
    exporters: async () => [
      await watching("one:1", [SPLIT], EVENT + 500, { shard: "0/2", up: ENDS }),
      await watching("two:1", [pair("utr")], EVENT + 500, { shard: "1/2" }),
    ],
    expected: [
      alert("VrrpSplitBrain", { ha_cluster: "split" }, -100),
      alert("ApplianceExporterDown", { ...JOB, instance: "one:1", severity: "critical" }, 150),
    ],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "the exporter of a shard is no target any more",
    exporters: async () => [
      await watching("one:1", [pair("ams")], EVENT + 500, { shard: "0/2", up: at<0 | 1>(1, [0, undefined]) }),
      await watching("two:1", [pair("utr")], EVENT + 500, { shard: "1/2" }),
    ],
    expected: [alert("ApplianceExporterShardMissing", JOB, 150)],
    lastsSeconds: EVENT + 500,
  },
  // What fires goes on: nobody sees that it is over.
  {
    name: "the exporter of a shard is no target any more during trouble, and returns",
    exporters: async () => [
      await watching("one:1", [SPLIT_UNTIL], EVENT + 600, {
        shard: "0/2",
        up: at<0 | 1>(1, [0, undefined], [300, 1]),
      }),
      await watching("two:1", [pair("utr")], EVENT + 600, { shard: "1/2" }),
    ],
    expected: [
      alert("VrrpSplitBrain", { ha_cluster: "split" }, -100, { until: 420 }),
      alert("ApplianceExporterShardMissing", JOB, 150, { until: 300 }),
    ],
    lastsSeconds: EVENT + 600,
  },
  {
    name: "the only exporter is no target any more during trouble, and returns at another address",
    exporters: async () => [
      await watching("one:1", [SPLIT_UNTIL], EVENT + 600, { up: at<0 | 1>(1, [0, undefined]) }),
      await watching("two:1", [SPLIT_UNTIL], EVENT + 600, { up: [[EVENT + 300, 1]] }),
    ],
    expected: [
      alert("VrrpSplitBrain", { ha_cluster: "split" }, -100, { until: 420 }),
      alert("ApplianceExporterAbsent", {}, 120, { until: 300 }),
    ],
    lastsSeconds: EVENT + 600,
  },
  {
    name: "the exporter has an invalid configuration and a full disk, and polls late",
    exporters: async () => [
      await watching("one:1", TWO, EVENT + 500, {}, (second) => (second < EVENT ? {} : OWN_TROUBLES)),
    ],
    expected: [
      alert("ApplianceExporterReloadFailed", { ...JOB, instance: "one:1" }, 60),
      alert("ApplianceExporterStorageFailing", { ...JOB, instance: "one:1" }, 300),
      alert("AppliancePollsLate", { ...JOB, instance: "one:1" }, 300),
    ],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "an appliance stays disabled",
    exporters: [
      exporter("one:1", [
        series("appliance_enabled", { ha_cluster: "ams", appliance: "a" }, at(1, [0, 0])),
        series("appliance_enabled", { ha_cluster: "ams", appliance: "b" }, at(1, [0, 0], [80_000, 1])),
      ]),
    ],
    expected: [alert("ApplianceDisabled", { ha_cluster: "ams", appliance: "a" }, 86_400)],
    lastsSeconds: EVENT + 87_000,
    intervals: [30],
    evaluatedEvery: 120,
  },
  ...SITE_SCENARIOS,
  ...PAIR_SCENARIOS,
  ...PLANNED_SCENARIOS,
  ...RESTING_SCENARIOS,
];

export const SCENARIOS: readonly Scenario[] = [...TOGETHER, ...ALONE];

/** The scenarios that are played at an interval. */
export function scenariosAt(seconds: number, all = SCENARIOS): readonly Scenario[] {
  return all.filter(({ intervals = [seconds] }) => intervals.includes(seconds));
}

/** A few, in which each rule fires that fires in any of `scenariosAt`. */
export function coverAt(seconds: number): readonly Scenario[] {
  const troubles = coverOf(TROUBLES);
  const others = coverOf(scenariosAt(seconds, ALONE), troubles);
  return [together("troubles of single clusters, each alert", troubles), ...others];
}
