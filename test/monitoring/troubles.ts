import { gathered } from "../../src/exporter/api/website-details.ts";
import {
  blocksOf,
  SHOP_DETAILS,
  seen,
  failed,
  WALL_MS,
  type Circumstances,
} from "../support/observations.ts";
import type { Observation } from "../../src/exporter/polling/observation.ts";
import type { Course } from "./judged.ts";
import { alert, at, EVENT, type Expected } from "./scenario.ts";
import type { Steps } from "./world.ts";

/** What happens to one cluster, and the alerts about it. */
export interface Trouble {
  readonly course: Course;
  readonly expected: readonly Expected[];
}

type Fires = readonly [name: string, after: number, more?: Partial<Expected>];

/** Seconds of windows and alerts are counted from the event. */
function trouble(course: Course, ...expected: readonly Fires[]): Trouble {
  const works = course.works?.map(({ from, to, on }) => ({ from: EVENT + from, to: EVENT + to, on })) ?? [];
  return {
    course: { ...course, works },
    expected: expected.map(([name, after, { labels = {}, ...more } = {}]) =>
      alert(name, { ha_cluster: course.cluster, ...labels }, after, more),
    ),
  };
}

const ALWAYS_MASTER: Steps<string> = [[0, "MASTER"]];
const ALWAYS_BACKUP: Steps<string> = [[0, "BACKUP"]];
const OF_A = { labels: { appliance: "a" } };
const OF_B = { labels: { appliance: "b" } };
const SHOP = of("shop", 2);

/** A pair of which all is well. */
const WELL = { a: ALWAYS_MASTER, b: ALWAYS_BACKUP };

/** The labels of an alert about a website. */
function of(website: string, id: number) {
  return { labels: { website, address: `#${id}` } };
}

/** Two values by turns, so many times, from the event on. */
function byTurns(seconds: number, times: number, ...values: readonly [string, string]) {
  return Array.from({ length: times }, (_, nth) => [nth * seconds, values[nth % 2] ?? ""] as const);
}

/** What both members find of websites from seconds after the event on, after 200. */
function atBoth(...then: readonly (readonly [after: number, status: string | number])[]) {
  const found = at<string | number>(200, ...then);
  return { a: found, b: found };
}

/** Details of shop at both members; those of `b` change with the event. */
function detailsOf(atB: Parameters<typeof seen.details>[2], until = Number.POSITIVE_INFINITY) {
  return (second: number, given: Circumstances): readonly Observation[] =>
    ["a", "b"].flatMap((name) => {
      const isChanged = name === "b" && second >= EVENT && second < EVENT + until;
      return [
        seen.websites(name, [2], given),
        seen.details(name, 2, isChanged ? atB : {}, given),
        seen.website(name, 2, blocksOf(200, 200), given),
      ];
    });
}

const NO_SERVER = {
  backends: gathered([
    { address: "192.0.2.81:8080", role: "active", isOk: false },
    { address: "192.0.2.82:8080", role: "active", isOk: false },
  ]),
} as const;
const ONE_SERVER = {
  backends: gathered([
    { address: "192.0.2.81:8080", role: "active", isOk: false },
    { address: "192.0.2.82:8080", role: "active", isOk: true },
  ]),
} as const;
const DISCOVERED = {
  labels: { website: SHOP_DETAILS.name ?? "", address: "shop.example:443" },
};

/** The same details at both members, from the event on. */
function serversAtBoth(details: Parameters<typeof seen.details>[2], status = 200) {
  return (second: number, given: Circumstances): readonly Observation[] =>
    ["a", "b"].flatMap((name) => [
      seen.websites(name, [2], given),
      seen.details(name, 2, second >= EVENT ? details : {}, given),
      seen.website(name, 2, second >= EVENT ? blocksOf(status, status) : blocksOf(200, 200), given),
    ]);
}

const NOT_AFTER_SECONDS = WALL_MS / 1000 + 864_000;

/** Troubles of clusters that have nothing to do with each other. */
export const TROUBLES: readonly Trouble[] = [
  trouble(
    {
      cluster: "failover",
      members: { a: at("MASTER", [0, "BACKUP"]), b: at("BACKUP", [0, "MASTER"]) },
    },
    ["VrrpFailover", 0, { ...OF_B, until: 300 }],
    ["VrrpPreferredMasterLost", 600],
  ),
  trouble(
    {
      cluster: "there-and-back",
      members: {
        a: at("MASTER", [0, "BACKUP"], [200, "MASTER"]),
        b: at("BACKUP", [0, "MASTER"], [200, "BACKUP"]),
      },
    },
    ["VrrpFailover", 0, OF_B],
    ["VrrpFailover", 200, { ...OF_A, until: 500 }],
  ),
  trouble(
    { cluster: "crash", members: { a: at("MASTER", [0, "silent"]), b: at("BACKUP", [0, "MASTER"]) } },
    ["VrrpFailover", 0, OF_B],
    ["VrrpRedundancyLost", 185],
  ),
  // A reboot.
  trouble({
    cluster: "backup-restarts",
    members: { a: ALWAYS_MASTER, b: at("BACKUP", [0, "silent"], [140, "BACKUP"]) },
  }),
  trouble(
    { cluster: "backup-off", members: { a: ALWAYS_MASTER, b: at("BACKUP", [0, "INIT"], [400, "BACKUP"]) } },
    ["VrrpRedundancyLost", 180, { until: 490 }],
    ["VrrpOddState", 300, OF_B],
  ),
  trouble(
    {
      cluster: "backup-refuses",
      members: { a: ALWAYS_MASTER, b: at("BACKUP", [0, "silent"], [30, "refuses"]) },
    },
    ["VrrpRedundancyLost", 185],
  ),
  trouble(
    {
      cluster: "by-turns",
      members: { a: ALWAYS_MASTER, b: at("BACKUP", ...byTurns(50, 18, "silent", "refuses")) },
    },
    ["VrrpRedundancyLost", 180],
  ),
  trouble(
    {
      cluster: "split",
      members: { a: ALWAYS_MASTER, b: at("BACKUP", [0, "MASTER"], [100, "BACKUP"]) },
    },
    ["VrrpSplitBrain", 0, { until: 220 }],
  ),
  trouble(
    {
      cluster: "split-powered-off",
      members: { a: at("MASTER", [60, "silent"]), b: at("BACKUP", [0, "MASTER"]) },
    },
    ["VrrpSplitBrain", 0, { until: 305 }],
    ["VrrpRedundancyLost", 365],
  ),
  trouble(
    {
      cluster: "headless",
      members: { a: at("MASTER", [0, "BACKUP"], [100, "MASTER"]), b: ALWAYS_BACKUP },
    },
    ["VrrpNoMaster", 5, { until: 220 }],
  ),
  trouble(
    {
      cluster: "headless-then-unknown",
      members: {
        a: at("MASTER", [0, "BACKUP"], [60, "silent"], [200, "BACKUP"], [400, "MASTER"]),
        b: ALWAYS_BACKUP,
      },
    },
    ["VrrpNoMaster", 5, { until: 520 }],
  ),
  trouble({ cluster: "master-not-reached", members: { a: at("MASTER", [0, "silent"]), b: ALWAYS_BACKUP } }, [
    "VrrpMasterUnknown",
    45,
  ]),
  trouble(
    {
      cluster: "password-changed",
      members: {
        a: at("MASTER", [0, "refuses"], [500, "MASTER"]),
        b: at("BACKUP", [0, "refuses"], [510, "BACKUP"]),
      },
    },
    ["VrrpMasterUnknown", 40, { until: 620 }],
  ),
  trouble(
    {
      cluster: "one-of-three",
      members: { a: ALWAYS_MASTER, b: ALWAYS_BACKUP, c: at("BACKUP", [0, "silent"], [500, "BACKUP"]) },
    },
    ["ApplianceDown", 240, { labels: { appliance: "c" }, until: 560 }],
  ),
  trouble(
    {
      cluster: "dark",
      members: {
        a: at("MASTER", [0, "silent"], [500, "MASTER"]),
        b: at("BACKUP", [0, "silent"], [500, "BACKUP"]),
      },
    },
    ["ClusterDark", 35, { until: 620 }],
  ),
  trouble({ cluster: "alone", members: { a: at("MASTER", [0, "silent"]) } }, ["ClusterDark", 35]),
  // What was open goes on while it gets worse, and ends once.
  trouble(
    {
      cluster: "lost-then-dark",
      members: {
        a: at("MASTER", [300, "silent"], [500, "MASTER"]),
        b: at("BACKUP", [0, "silent"], [500, "BACKUP"]),
      },
    },
    ["VrrpRedundancyLost", 185, { until: 600 }],
    ["ClusterDark", 335, { until: 620 }],
  ),
  trouble(
    {
      cluster: "lost-then-unknown",
      members: {
        a: at("MASTER", [300, "INIT"], [430, "MASTER"]),
        b: at("BACKUP", [0, "silent"], [480, "BACKUP"]),
      },
    },
    ["VrrpRedundancyLost", 185, { until: 570 }],
    ["VrrpMasterUnknown", 340, { until: 550 }],
  ),
  trouble(
    {
      cluster: "flapping",
      members: { a: ALWAYS_MASTER, b: at("BACKUP", ...byTurns(30, 7, "INIT", "BACKUP"), [200, "BACKUP"]) },
    },
    ["VrrpFlapping", 120, { until: 480 }],
  ),
  trouble({ cluster: "single-faults", members: { a: at("MASTER", [0, "FAULT"]) } }, [
    "VrrpNotServing",
    30,
    OF_A,
  ]),
  trouble(
    {
      cluster: "third-odd",
      members: { a: ALWAYS_MASTER, b: ALWAYS_BACKUP, c: at("BACKUP", [0, "INIT"], [600, "BACKUP"]) },
    },
    ["VrrpOddState", 300, { labels: { appliance: "c" } }],
  ),
  trouble(
    { cluster: "unwatched", members: { a: at("BACKUP"), b: at("BACKUP"), c: ALWAYS_MASTER }, disabled: "c" },
    ["VrrpMasterUnwatched", 240],
  ),
  trouble(
    {
      cluster: "not-handed-over",
      members: { a: at("MASTER", [60, "silent"], [300, "BACKUP"]), b: at("BACKUP", [60, "MASTER"]) },
      works: [{ from: 0, to: 400, on: { appliances: ["a"] } }],
    },
    ["VrrpNotHandedOver", 65, { ...OF_A, until: 300 }],
  ),
  trouble(
    {
      cluster: "certificates",
      members: WELL,
      list: (member) =>
        member === "a"
          ? {
              certificate: {
                subject: "CN=a",
                issuer: "CN=a",
                sha256: "AA",
                notAfterSeconds: NOT_AFTER_SECONDS,
              },
            }
          : {},
    },
    ["ApplianceCertificateExpiring", -60, OF_A],
  ),
  trouble(
    {
      cluster: "deviating",
      members: WELL,
      list: (member, second) =>
        member === "a" && second >= EVENT ? { anomalies: ["bad_field", "bad_field"] } : {},
    },
    ["ApplianceApiAnomalies", 300, OF_A],
  ),
  trouble({ cluster: "website-down", members: WELL, websites: { shop: atBoth([0, 503], [200, 200]) } }, [
    "WebsiteDown",
    45,
    { ...SHOP, until: 260 },
  ]),
  trouble(
    { cluster: "at-master", members: WELL, websites: { shop: { a: at<number>(200, [0, 503], [200, 200]) } } },
    ["WebsiteDown", 45, { ...SHOP, until: 260 }],
  ),
  trouble(
    {
      cluster: "third-refuses",
      members: { a: ALWAYS_MASTER, b: ALWAYS_BACKUP, c: at("BACKUP", [0, "refuses"], [500, "BACKUP"]) },
    },
    ["ApplianceRefused", 240, { labels: { appliance: "c" }, until: 560 }],
  ),
  // What was open goes on while it gets worse, or better.
  trouble(
    {
      cluster: "third-refuses-then-silent",
      members: {
        a: ALWAYS_MASTER,
        b: ALWAYS_BACKUP,
        c: at("BACKUP", [0, "refuses"], [300, "silent"], [600, "BACKUP"]),
      },
    },
    ["ApplianceRefused", 240, { labels: { appliance: "c" }, until: 660 }],
  ),
  trouble(
    {
      cluster: "third-silent-then-refuses",
      members: {
        a: ALWAYS_MASTER,
        b: ALWAYS_BACKUP,
        c: at("BACKUP", [0, "silent"], [300, "refuses"], [600, "BACKUP"]),
      },
    },
    ["ApplianceDown", 240, { labels: { appliance: "c" }, until: 660 }],
  ),
  // Not known is not up again.
  trouble(
    {
      cluster: "website-down-then-hangs",
      members: WELL,
      websites: { shop: atBoth([0, 503], [200, "untested"], [500, 200]) },
    },
    ["WebsiteDown", 45, { ...SHOP, until: 560 }],
  ),
  trouble(
    {
      cluster: "website-hangs-then-down",
      members: WELL,
      websites: { shop: atBoth([0, "untested"], [200, 503], [500, 200]) },
    },
    ["WebsiteUnknown", 75, { labels: { ...SHOP.labels, severity: "critical" }, until: 560 }],
  ),
  trouble(
    {
      cluster: "half-known",
      members: WELL,
      websites: { shop: { a: at<string | number>(200, [0, "200 http"]) } },
    },
    ["WebsiteUnknown", 75, { labels: { ...SHOP.labels, severity: "warning" } }],
  ),
  // At a third member, which would not take over.
  trouble(
    {
      cluster: "partially",
      members: { a: ALWAYS_MASTER, b: ALWAYS_BACKUP, c: ALWAYS_BACKUP },
      websites: {
        shop: {
          a: at<number>(200, [300, 503], [500, 200]),
          b: at<number>(200, [300, 503], [500, 200]),
          c: at<number>(200, [0, 503], [500, 200]),
        },
      },
    },
    ["WebsitePartiallyDown", 120, { ...SHOP, until: 500 }],
    ["WebsiteDown", 345, { ...SHOP, until: 560 }],
  ),
  trouble(
    {
      cluster: "down-at-successor",
      members: WELL,
      websites: { shop: { b: at<number>(200, [0, 503], [300, 200]) } },
    },
    ["FailoverNotReady", 120, { ...OF_A, until: 360 }],
  ),
  trouble(
    {
      cluster: "down-at-successor-then-at-both",
      members: WELL,
      websites: {
        shop: { a: at<number>(200, [200, 503], [400, 200]), b: at<number>(200, [0, 503], [600, 200]) },
      },
    },
    ["FailoverNotReady", 120, { ...OF_A, until: 660 }],
    ["WebsiteDown", 245, { ...SHOP, until: 460 }],
  ),
  // Its members are synchronized one after the other.
  trouble({
    cluster: "synchronizing",
    members: WELL,
    websites: { shop: { b: at<number>(200, [0, 503], [100, 200]) } },
  }),
  trouble(
    {
      cluster: "not-ready-then-no-backup",
      members: { a: ALWAYS_MASTER, b: at("BACKUP", [300, "silent"], [600, "BACKUP"]) },
      websites: { shop: { b: at<number>(200, [0, 503]) } },
    },
    ["FailoverNotReady", 120, OF_A],
    ["VrrpRedundancyLost", 485, { until: 690 }],
  ),
  trouble({ cluster: "hanging", members: WELL, websites: { shop: atBoth([0, "untested"]) } }, [
    "WebsiteUnknown",
    75,
    { labels: { ...SHOP.labels, severity: "critical" } },
  ]),
  trouble(
    {
      cluster: "unstable",
      members: WELL,
      websites: {
        shop: atBoth([0, 503], [100, 200], [150, 503], [250, 200], [300, 503], [400, 200]),
      },
    },
    ["WebsiteDown", 45, SHOP],
    ["WebsiteUnstable", 400],
  ),
  // No website was down.
  trouble({
    cluster: "api-away",
    members: WELL,
    websites: {
      shop: atBoth([0, "untested"], [30, 200], [150, "untested"], [180, 200], [300, "untested"], [330, 200]),
    },
  }),
  trouble(
    {
      cluster: "all-hang",
      members: WELL,
      websites: {
        shop: atBoth([0, "untested"]),
        blog: atBoth([0, "untested"]),
        news: atBoth([0, "untested"]),
      },
    },
    ["WebsitesDown", 65],
  ),
  // The tests are spread over 30 seconds.
  trouble(
    {
      cluster: "common-cause",
      members: WELL,
      websites: {
        shop: atBoth([0, 503], [300, 200]),
        blog: atBoth([15, 503], [330, 200]),
        news: atBoth([30, "untested"], [300, 200]),
        wiki: {},
      },
    },
    ["WebsitesDown", 40, { until: 360 }],
  ),
  // One was down before, and is down after the others.
  trouble(
    {
      cluster: "one-then-all",
      members: WELL,
      websites: {
        shop: atBoth([0, 503], [600, 200]),
        blog: atBoth([200, 503], [400, 200]),
        news: atBoth([200, 503], [400, 200]),
      },
    },
    ["WebsiteDown", 45, { ...SHOP, until: 660 }],
    ["WebsitesDown", 210, { until: 460 }],
  ),
  trouble({ cluster: "servers-lost", members: WELL, more: serversAtBoth(NO_SERVER, 503) }, [
    "WebsiteDown",
    45,
    DISCOVERED,
  ]),
  trouble({ cluster: "servers-lost-but-up", members: WELL, more: serversAtBoth(NO_SERVER) }, [
    "WebsiteBackendsLost",
    120,
    { labels: { ...DISCOVERED.labels, severity: "warning" } },
  ]),
  trouble({ cluster: "server-down", members: WELL, more: serversAtBoth(ONE_SERVER) }, [
    "WebsiteBackendDown",
    120,
    DISCOVERED,
  ]),
  trouble({ cluster: "servers-at-successor", members: WELL, more: detailsOf(NO_SERVER) }, [
    "FailoverNotReady",
    120,
    OF_A,
  ]),
  trouble(
    {
      cluster: "unequal",
      members: { a: at("BACKUP"), b: at("BACKUP"), c: ALWAYS_MASTER },
      disabled: "c",
      more: detailsOf({ isEnabled: false }),
    },
    ["WebsitesUnequal", 600],
    ["VrrpMasterUnwatched", 240],
  ),
  trouble(
    {
      cluster: "unlisted",
      members: WELL,
      more: (second, given) =>
        second < EVENT
          ? detailsOf({})(second, given)
          : [failed.websites("b", "http_status", given), ...detailsOf({})(second, given).slice(0, 3)],
    },
    ["WebsitesUnwatched", 600, OF_B],
  ),
];
