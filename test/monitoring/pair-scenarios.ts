import { judged, type Course } from "./judged.ts";
import { alert, at, EVENT, type Expected, type Scenario } from "./scenario.ts";
import { exporter, healthy, type Exporter, type ExporterSetup, type Series, type Steps } from "./world.ts";

const LASTS = EVENT + 900;
const SHOP = { website: "shop", address: "#2" };

/** Absent in these seconds after the event: the exporter has no results. */
function without(says: readonly Series[], [from, to]: readonly [number, number]): readonly Series[] {
  return says.map((each) => ({
    ...each,
    valueAt: (second) => (second >= EVENT + from && second < EVENT + to ? undefined : each.valueAt(second)),
  }));
}

interface View extends ExporterSetup {
  /** What this exporter sees of the cluster. */
  readonly of: Course;
  readonly fleet?: readonly Course[];
  /** It starts anew, and has no results between these seconds. */
  readonly restarts?: readonly [number, number];
}

/** The same cluster, as two exporters see it; both also see others, of which all is well. */
function pair(
  name: string,
  one: View,
  two: View,
  expected: readonly Expected[],
  more: Partial<Scenario> = {},
): Scenario {
  const seenBy = async (
    instance: string,
    { of, fleet = healthy(4), restarts, ...setup }: View,
  ): Promise<Exporter> => {
    const says = await judged([...fleet, of], LASTS);
    return exporter(instance, restarts === undefined ? says : without(says, restarts), setup);
  };
  return {
    name: `of two exporters ${name}`,
    exporters: async () => [await seenBy("one:1", one), await seenBy("two:1", two)],
    expected,
    lastsSeconds: LASTS,
    ...more,
  };
}

const WELL = { a: [[0, "MASTER"]], b: [[0, "BACKUP"]] } as const satisfies Course["members"];
const ams = (given: Partial<Course> = {}): Course => ({ cluster: "ams", members: WELL, ...given });
const AMS = { ha_cluster: "ams" };

/** All that happens after the event, so many seconds later. */
function later({ members, websites = {}, ...others }: Course, seconds: number): Course {
  const shift = <Of>(given: Steps<Of>): Steps<Of> =>
    given.map(([second, value]) => [second === 0 ? 0 : second + seconds, value] as const);
  const shifted = <Of>(all: Readonly<Record<string, Steps<Of>>>) =>
    Object.fromEntries(Object.entries(all).map(([name, given]) => [name, shift(given)]));
  const sites = Object.fromEntries(Object.entries(websites).map(([name, all]) => [name, shifted(all)]));
  return { ...others, members: shifted(members), ...(websites === undefined ? {} : { websites: sites }) };
}

const CUT: Course = ams({ members: { a: at("MASTER", [0, "silent"]), b: at("BACKUP", [0, "silent"]) } });
const LOST = ams({ members: { a: [[0, "MASTER"]], b: at("BACKUP", [0, "silent"], [600, "BACKUP"]) } });
const DOWN = ams({
  websites: { shop: { a: at<number>(200, [0, 503], [300, 200]), b: at<number>(200, [0, 503], [300, 200]) } },
});
const FAILOVER = ams({ members: { a: at("MASTER", [0, "BACKUP"]), b: at("BACKUP", [0, "MASTER"]) } });
const SPLIT = ams({ members: { a: [[0, "MASTER"]], b: at("BACKUP", [0, "MASTER"], [300, "BACKUP"]) } });
const UNTESTED = ams({
  websites: {
    shop: { a: at<string | number>(200, [0, "untested"]), b: at<string | number>(200, [0, "untested"]) },
  },
});

const lost = (after = 185, until = 690): Expected => alert("VrrpRedundancyLost", AMS, after, { until });
const down = (after = 45, until = 360): Expected =>
  alert("WebsiteDown", { ...AMS, ...SHOP }, after, { until });
const STUCK = { job: "appliance-exporter", instance: "two:1", severity: "warning" };
const stuck = (after: number, more: Partial<Expected> = {}): Expected =>
  alert("ApplianceExporterStuck", STUCK, after, more);
const gone = (instance: string, after: number): Expected =>
  alert("ApplianceExporterDown", { job: "appliance-exporter", instance, severity: "warning" }, after);
const failedOver: readonly Expected[] = [
  alert("VrrpFailover", { ...AMS, appliance: "b" }, 0, { until: 240 }),
  alert("VrrpPreferredMasterLost", AMS, 600),
];
const others = (course: Course): readonly Course[] =>
  ["den", "utr"].map((cluster) => ({ ...course, cluster }));
const OTHERS = others(ams());
const OTHERS_CUT = others(CUT);

/** Two exporters that do not see the same. */
export const PAIR_SCENARIOS: readonly Scenario[] = [
  pair("one is cut off from a cluster of which all is well", { of: ams() }, { of: CUT }, [stuck(180)]),
  pair("one is blind while a website is down", { of: DOWN, fleet: OTHERS }, { of: CUT, fleet: OTHERS_CUT }, [
    stuck(180),
    down(),
  ]),
  pair("one cannot test websites", { of: ams() }, { of: UNTESTED }, []),
  pair("one cannot test the website that is down", { of: DOWN }, { of: UNTESTED }, [down()]),
  pair("one is cut off from the cluster whose backup is lost", { of: LOST }, { of: CUT }, [
    lost(),
    stuck(180),
  ]),
  pair("one does not reach the backup", { of: ams() }, { of: LOST }, [stuck(185, { until: 600 })]),
  pair("one sees a lost backup twenty seconds later", { of: LOST }, { of: later(LOST, 20) }, [
    lost(185, 710),
  ]),
  pair("one sees a failover ten seconds later", { of: FAILOVER }, { of: later(FAILOVER, 10) }, failedOver),
  pair("one sees a website go down, and up, twenty seconds later", { of: DOWN }, { of: later(DOWN, 20) }, [
    down(45, 380),
  ]),
  pair(
    "one restarts while a backup is lost",
    { of: LOST, up: at<0 | 1>(1, [300, 0], [320, 1]), restarts: [300, 340] },
    { of: LOST },
    [lost()],
  ),
  pair("one restarts after a failover", { of: FAILOVER, restarts: [60, 80] }, { of: FAILOVER }, failedOver),
  pair("one dies while a website is down", { of: DOWN, up: at<0 | 1>(1, [100, 0]) }, { of: DOWN }, [
    down(),
    gone("one:1", 280),
  ]),
  // For 45 s, the one that is dead counts as seeing more.
  pair("one dies with the backup beside it", { of: ams(), up: at<0 | 1>(1, [0, 0]) }, { of: LOST }, [
    lost(230),
    gone("one:1", 180),
  ]),
  pair("the one that is cut off dies", { of: ams() }, { of: CUT, up: at<0 | 1>(1, [60, 0]) }, [
    gone("two:1", 240),
  ]),
  pair("one is cut off, and the other one dies", { of: ams(), up: at<0 | 1>(1, [300, 0]) }, { of: CUT }, [
    stuck(180, { until: 450 }),
    stuck(450, { labels: { ...STUCK, severity: "critical" } }),
    alert(
      "ApplianceExporterDown",
      { job: "appliance-exporter", instance: "one:1", severity: "critical" },
      450,
    ),
  ]),
  pair("one dies with the whole cluster beside it", { of: ams(), up: at<0 | 1>(1, [0, 0]) }, { of: CUT }, [
    alert("ClusterDark", AMS, 75),
    gone("one:1", 180),
  ]),
  pair("both see a split brain, one for longer", { of: SPLIT }, { of: later(SPLIT, 15) }, [
    alert("VrrpSplitBrain", AMS, 0, { until: 435 }),
  ]),
  pair(
    "one knows the window of the member that is lost",
    { of: ams({ ...LOST, works: [{ from: EVENT - 60, to: EVENT + 700, on: { appliances: ["b"] } }] }) },
    { of: LOST },
    [],
  ),
  pair(
    "one knows the window of a failover, the other sees it later",
    { of: ams({ ...FAILOVER, works: [{ from: EVENT - 60, to: EVENT + 2000, on: { appliances: ["a"] } }] }) },
    { of: later(FAILOVER, 10) },
    [],
  ),
  pair(
    "each sees one master, and nobody the third member",
    {
      of: ams({
        members: { a: [[0, "MASTER"]], b: at("BACKUP", [0, "silent"]), c: at("BACKUP", [0, "silent"]) },
      }),
    },
    {
      of: ams({
        members: {
          a: at("MASTER", [0, "silent"]),
          b: at("BACKUP", [0, "MASTER"]),
          c: at("BACKUP", [0, "silent"]),
        },
      }),
    },
    [alert("VrrpMastersDisputed", AMS, 120)],
    // While a scrape of one exporter fails, nobody contradicts the other.
    { ifScrapesAreLost: "VrrpFailover" },
  ),
];
