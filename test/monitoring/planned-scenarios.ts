import { judged, type Course, type Work } from "./judged.ts";
import { alert, at, EVENT, type Expected, type Scenario } from "./scenario.ts";
import { exporter, type Exporter, type Labels, type Series, type Steps } from "./world.ts";

/** What happens to a cluster that is worked on, and the alerts about it. */
interface PlannedCase extends Course {
  readonly works: readonly Work[];
  readonly expected: readonly Expected[];
}

type Fires = readonly [name: string, after: number, more?: Partial<Expected>];

/** Its windows, from and to seconds after the event. */
function planned(
  course: Course,
  works: readonly (readonly [from: number, to: number, on: Work["on"]])[],
  ...expected: readonly Fires[]
): PlannedCase {
  const { cluster } = course;
  return {
    ...course,
    works: works.map(([from, to, on]) => ({ from: EVENT + from, to: EVENT + to, on })),
    expected: expected.map(([name, after, { labels = {}, ...more } = {}]) =>
      alert(name, { ha_cluster: cluster, ...labels }, after, more),
    ),
  };
}

const ON_A = { appliances: ["a"] };
const ON_B = { appliances: ["b"] };
const OF_B = { labels: { appliance: "b" } };
const SHOP = { labels: { website: "shop", address: "#2" } };

const A_STAYS: Steps<"MASTER"> = [[0, "MASTER"]];
/** Long enough for every alert about the loss of a member. */
const B_REBOOTS = at("BACKUP", [60, "silent"], [400, "BACKUP"]);
const BOTH_REBOOT = {
  a: at("MASTER", [60, "silent"], [500, "MASTER"]),
  b: at("BACKUP", [60, "silent"], [500, "BACKUP"]),
};

const CASES: readonly PlannedCase[] = [
  planned({ cluster: "reboot-backup", members: { a: A_STAYS, b: B_REBOOTS } }, [[0, 600, ON_B]]),
  planned(
    {
      cluster: "reboot-master",
      members: {
        a: at("MASTER", [60, "BACKUP"], [120, "silent"], [460, "BACKUP"], [760, "MASTER"]),
        b: at("BACKUP", [60, "MASTER"], [760, "BACKUP"]),
      },
    },
    [[0, 765, ON_A]],
  ),
  planned(
    {
      cluster: "firmware-of-both",
      members: {
        a: at("MASTER", [520, "BACKUP"], [560, "silent"], [900, "BACKUP"], [960, "MASTER"]),
        b: at("BACKUP", [60, "silent"], [400, "BACKUP"], [520, "MASTER"], [960, "BACKUP"]),
      },
    },
    [
      [0, 420, ON_B],
      [500, 965, ON_A],
    ],
  ),
  planned({ cluster: "whole", members: BOTH_REBOOT }, [[0, 600, { clusters: ["whole"] }]]),
  planned({ cluster: "alone", members: { a: BOTH_REBOOT.a } }, [[0, 600, ON_A]]),
  // Of three members, one takes over, which is not worked on.
  planned(
    {
      cluster: "reboot-master-of-three",
      members: { a: at("BACKUP", [60, "MASTER"]), b: [[0, "BACKUP"]], c: at("MASTER", [60, "BACKUP"]) },
    },
    [[0, 900, { appliances: ["c"] }]],
  ),
  planned(
    {
      cluster: "to-and-fro",
      members: {
        a: at("MASTER", ...byTurns("BACKUP", "MASTER")),
        b: at("BACKUP", ...byTurns("MASTER", "BACKUP")),
      },
    },
    [[0, 400, ON_A]],
  ),
  planned(
    {
      cluster: "then-split",
      members: { a: A_STAYS, b: at("BACKUP", [60, "silent"], [300, "MASTER"], [400, "BACKUP"]) },
    },
    [[0, 600, ON_B]],
    ["VrrpSplitBrain", 300, { until: 520 }],
  ),
  planned(
    { cluster: "whole-split", members: { a: A_STAYS, b: at("BACKUP", [100, "MASTER"], [200, "BACKUP"]) } },
    [[0, 600, { clusters: ["whole-split"] }]],
    ["VrrpSplitBrain", 100, { until: 320 }],
  ),
  planned(
    {
      cluster: "then-website-down",
      members: { a: A_STAYS, b: B_REBOOTS },
      websites: { shop: { a: at(200, [100, 503], [300, 200]) } },
    },
    [[0, 600, ON_B]],
    ["WebsiteDown", 145, { ...SHOP, until: 360 }],
  ),
  planned(
    {
      cluster: "then-other-dies",
      members: { a: at("MASTER", [100, "silent"], [320, "MASTER"]), b: B_REBOOTS },
    },
    [[0, 600, ON_B]],
    ["ClusterDark", 130, { until: 470 }],
  ),
  planned(
    {
      cluster: "other-dies-later",
      members: {
        a: at("MASTER", [500, "silent"]),
        b: at("BACKUP", [60, "silent"], [400, "BACKUP"], [500, "MASTER"]),
      },
    },
    [[0, 900, ON_B]],
    ["VrrpFailover", 500, { ...OF_B, until: 740 }],
    ["VrrpRedundancyLost", 680],
  ),
  planned(
    {
      cluster: "no-master",
      members: {
        a: at("MASTER", [60, "BACKUP"], [120, "silent"], [300, "BACKUP"], [500, "MASTER"]),
        b: at("BACKUP", [60, "MASTER"], [300, "BACKUP"]),
      },
    },
    [[0, 600, ON_A]],
    ["VrrpNoMaster", 305, { until: 620 }],
  ),
  planned(
    {
      cluster: "third-dies",
      members: { a: A_STAYS, b: at("BACKUP", [60, "silent"]), c: at("BACKUP", [60, "silent"]) },
    },
    [[0, 2000, ON_B]],
    ["VrrpRedundancyLost", 240],
  ),
  // It began before the window, and neither ends with its begin nor with its end.
  planned(
    { cluster: "wrong-before", members: { a: A_STAYS, b: at("BACKUP", [-300, "silent"], [500, "BACKUP"]) } },
    [[0, 400, ON_B]],
    ["VrrpRedundancyLost", -120, { until: 590 }],
  ),
  planned(
    { cluster: "wrong-at-the-end", members: { a: A_STAYS, b: at("BACKUP", [60, "silent"]) } },
    [[0, 400, ON_B]],
    ["VrrpRedundancyLost", 580],
  ),
  // The certificate or the password of a MASTER is renewed: nobody else says anything else.
  ...["another certificate", "refuses"].map((answer, nth) =>
    planned(
      {
        cluster: `renewed-${nth}`,
        members: { a: at("MASTER", [60, answer], [300, "MASTER"]), b: [[0, "BACKUP"]] },
      },
      [[0, 600, ON_A]],
    ),
  ),
  planned(
    {
      cluster: "renewed-elsewhere",
      members: { a: at("MASTER", [60, "refuses"], [300, "MASTER"]), b: [[0, "BACKUP"]] },
    },
    [[0, 600, ON_B]],
    ["VrrpMasterUnknown", 100, { until: 420 }],
  ),
  planned(
    {
      cluster: "renewed-before",
      members: { a: at("MASTER", [-60, "refuses"], [300, "MASTER"]), b: [[0, "BACKUP"]] },
    },
    [[0, 600, ON_A]],
    ["VrrpMasterUnknown", -20, { until: 420 }],
  ),
  planned(
    {
      cluster: "silent-master",
      members: { a: at("MASTER", [60, "silent"], [300, "MASTER"]), b: [[0, "BACKUP"]] },
    },
    [[0, 600, ON_A]],
    ["VrrpMasterUnknown", 105, { until: 420 }],
    ["VrrpNotHandedOver", 65, { labels: { appliance: "a" } }],
  ),
  planned(
    {
      cluster: "renewed-and-other-lost",
      members: {
        a: at("MASTER", [60, "refuses"], [300, "MASTER"]),
        b: at("BACKUP", [90, "silent"], [300, "BACKUP"]),
      },
    },
    [[0, 600, ON_A]],
    ["VrrpMasterUnknown", 135, { until: 420 }],
  ),
  planned(
    {
      cluster: "failover-after",
      members: { a: at("MASTER", [420, "BACKUP"]), b: at("BACKUP", [420, "MASTER"]) },
    },
    [[0, 400, ON_B]],
    ["VrrpFailover", 420, OF_B],
    ["VrrpPreferredMasterLost", 1020],
  ),
  planned(
    {
      cluster: "not-ready",
      members: { a: A_STAYS, b: [[0, "BACKUP"]] },
      websites: { shop: { b: at(200, [60, 503], [500, 200]) } },
    },
    [[0, 600, ON_B]],
  ),
  // Of its two backups with a website that is down, one is worked on: the ticket is about the other one.
  planned(
    {
      cluster: "down-at-both-backups",
      members: { a: A_STAYS, b: [[0, "BACKUP"]], c: [[0, "BACKUP"]] },
      websites: { shop: { b: at(200, [60, 503]), c: at(200, [60, 503]) } },
    },
    [[0, 2000, ON_B]],
    ["WebsitePartiallyDown", 180, SHOP],
  ),
];

/** Every 40 seconds. */
function byTurns<const State>(one: State, other: State) {
  return [60, 100, 140, 180, 220, 260].map((after, nth) => [after, nth % 2 === 0 ? one : other] as const);
}

const LASTS = EVENT + 1300;

async function saidOf(cases: readonly PlannedCase[], isKnown = true): Promise<readonly Series[]> {
  return judged(
    cases.map((each) => ({ ...each, works: isKnown ? each.works : [] })),
    LASTS,
  );
}

const hasNoResults = (second: number): boolean => second >= EVENT + 135 && second < EVENT + 155;

/** The exporter has no results for twenty seconds after a restart. */
function withRestart(instance: string, says: readonly Series[]): Exporter {
  const silent = says.map((each): Series => ({
    ...each,
    valueAt: (second) => (hasNoResults(second) ? undefined : each.valueAt(second)),
  }));
  return exporter(instance, silent, { up: at<0 | 1>(1, [120, 0], [135, 1]) });
}

/** Of three members, one takes over: an exporter without the window may report that while scrapes of the other one fail. */
const OF_PAIRS = CASES.filter(
  ({ expected, members }) => expected.length === 0 && Object.keys(members).length === 2,
);
const AMSTERDAM: Labels = { site: "amsterdam" };
const OF_SITE = ["ams-1", "ams-2"].map((cluster) =>
  planned({ cluster, labels: AMSTERDAM, members: BOTH_REBOOT }, [[0, 600, { labels: AMSTERDAM }]]),
);
const NOT_PLANNED = [
  planned({ cluster: "utr", members: BOTH_REBOOT }, []),
  planned({ cluster: "den", members: { a: A_STAYS, b: [[0, "BACKUP"]] } }, []),
];

export const PLANNED_SCENARIOS: readonly Scenario[] = [
  {
    name: "planned work on single clusters, in which something else goes wrong or not",
    exporters: async () => [exporter("one:1", await saidOf(CASES))],
    expected: CASES.flatMap(({ expected }) => expected),
    lastsSeconds: LASTS,
    intervals: [5, 30],
  },
  {
    name: "one of two exporters knows of the planned work, and restarts meanwhile",
    exporters: async () => [
      withRestart("one:1", await saidOf(OF_PAIRS)),
      exporter("two:1", await saidOf(OF_PAIRS, false)),
    ],
    expected: [],
    lastsSeconds: LASTS,
    intervals: [30],
  },
  {
    name: "planned work on a site that is most of the fleet, while another cluster goes dark",
    exporters: async () => [exporter("one:1", await saidOf([...OF_SITE, ...NOT_PLANNED]))],
    expected: [alert("ClusterDark", { ha_cluster: "utr" }, 90, { until: 650 })],
    lastsSeconds: EVENT + 900,
    intervals: [30],
  },
];
