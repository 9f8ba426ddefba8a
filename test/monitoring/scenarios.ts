import {
  PROBLEM_OF,
  type BackendState,
  type Cause,
  type ProblemKind,
  type ReadinessState,
  type GroupState,
  type WebsiteState,
} from "../../src/exporter/judge/states.ts";
import { keysOf } from "../../src/support/keys.ts";
import { coverOf } from "./cover.ts";
import { PLANNED_SCENARIOS } from "./planned-scenarios.ts";
import { RESTING_SCENARIOS } from "./resting-scenarios.ts";
import { alert, at, EVENT, type Expected, type Scenario } from "./scenario.ts";
import {
  cluster,
  exporter,
  healthy,
  series,
  type ClusterSetup,
  type Labels,
  type Series,
  type Steps,
} from "./world.ts";

/** What happens to one cluster, and the alerts about it. */
interface Trouble {
  readonly says: readonly Series[];
  readonly expected: readonly Expected[];
}

const JOB = { job: "appliance-exporter" };
const PAIR_A_DOWN: ClusterSetup["appliances"] = { a: at("up", [0, "down"]), b: [[0, "up"]] };

/** Names no cluster: `trouble` adds it. */
type Also = readonly [metric: string, labels: Labels, given: Steps<number>];

/** One cluster with alerts and further series that carry its name. */
function trouble(
  name: string,
  setup: ClusterSetup,
  expected: readonly (readonly [
    alert: string,
    after: number,
    more?: Partial<Expected> & { labels?: Labels },
  ])[],
  also: readonly Also[] = [],
): Trouble {
  return {
    says: [
      ...cluster(name, setup),
      ...also.map(([metric, labels, given]) => series(metric, { ha_cluster: name, ...labels }, given)),
    ],
    expected: expected.map(([each, after, { labels = {}, ...more } = {}]) =>
      alert(each, { ha_cluster: name, ...labels }, after, more),
    ),
  };
}

const OF_A = { labels: { appliance: "a" } };
const SHOP = of("shop");
const SHOP_UP: ClusterSetup["websites"] = { shop: [[0, "up"]] };

/** The labels of an alert about a website. */
function of(website: string) {
  return { labels: { website_id: website, website, address: `#${website}` } };
}

/** Three websites, which are up until then. */
function websitesThat(...then: readonly (readonly [after: number, state: WebsiteState])[]) {
  return Object.fromEntries(["shop", "blog", "news"].map((each) => [each, at<WebsiteState>("up", ...then)]));
}

/** The status that an appliance finds. */
function statusOf(appliance: string, website: Labels, status: number): Also {
  return ["website_http_status", { appliance, protocol: "https", ...website }, at(status)];
}

/** One of the states of the servers behind the website. */
function backends(state: BackendState, given: Steps<number>): Also {
  return ["website_backends_state", { ...SHOP.labels, state }, given];
}

/** The states of the failover of `a`, and what visitors would lose while it has losses. */
function failover(given: Steps<ReadinessState>, risk: Labels = {}): readonly Also[] {
  const own = { appliance: "a" };
  const valuesOf = (valueOf: (state: ReadinessState) => number | undefined): Steps<number> =>
    given.map(([from, state]) => [from, state && valueOf(state)]);
  const labels = {
    ...own,
    successor: "b",
    risk: "website_missing",
    effect: "loss",
    subject: "shop",
    ...risk,
  };
  return [
    ...keysOf(PROBLEM_OF.readiness).map((state): Also => [
      "appliance_failover_state",
      { ...own, state },
      valuesOf((now) => Number(now === state)),
    ]),
    ["failover_risk_info", labels, valuesOf((state) => (state === "losses" ? 1 : undefined))],
  ];
}

/** Ten servers of a website with an error. */
const FAILED_SERVERS = Array.from({ length: 10 }, (_, nth): Also => {
  const server = { backend: `192.0.2.1:80${nth}`, role: "active", appliance: "a" };
  return ["website_backend_ok", { ...SHOP.labels, ...server }, at(0)];
});

/** All groups have this state and no master, from the event on. */
function outage(state: GroupState, until: number): ClusterSetup {
  return {
    group: at("one_master", [0, state], [until, "one_master"]),
    master: at("a", [0, undefined], [until, "a"]),
  };
}

/** An exporter says for five minutes why b took over from a. */
function took(
  cause: Cause,
  clause: string,
  ...steps: readonly (readonly [number, number | undefined])[]
): readonly Also[] {
  const given = steps.map(([after, value]) => [EVENT + after, value] as const);
  const summary = `b took over from a${clause}`;
  return [
    ["ha_cluster_failover_info", { from: "a", to: "b", cause, incident: "one" }, given],
    ["ha_cluster_problem_words_info", { kind: "failover", subject: "b", summary, incident: "one" }, given],
  ];
}

/** The sentence about a problem, which is part of an incident, and the problem. */
function told(
  kind: ProblemKind,
  subject: string,
  ...steps: readonly (readonly [number, number | undefined])[]
): readonly Also[] {
  const given = steps.map(([after, value]) => [EVENT + after, value] as const);
  const words = {
    summary: `${kind} of ${subject}`.replaceAll("_", " "),
    advice: "look at it",
    incident: "two",
  };
  const about: Labels = kind.startsWith("website_")
    ? { website_id: "shop", website: "shop", address: subject }
    : ["a", "b"].includes(subject)
      ? { appliance: subject }
      : {};
  return [
    ["ha_cluster_problem", { kind, subject, ...about }, given],
    ["ha_cluster_problem_words_info", { kind, subject, ...words }, given],
  ];
}

/** Problems with alerts of their own, which the exporter judges and tells. */
const TOLD: readonly (readonly [alert: string, kind: ProblemKind, waits: number, appliance?: string])[] = [
  ["VrrpNotServing", "not_serving", 30, "a"],
  ["VrrpOddState", "odd_state", 300, "b"],
  ["VrrpMasterUnwatched", "master_unwatched", 600],
  ["VrrpNotHandedOver", "not_handed_over", 0, "a"],
  ["WebsitesUnequal", "websites_unequal", 600],
  ["WebsitesUnwatched", "websites_not_listed", 600, "b"],
];

/** Troubles of clusters that have nothing to do with each other. */
const TROUBLES: readonly Trouble[] = [
  trouble(
    "failover",
    {
      group: at("one_master", [0, "changing"], [2, "one_master"]),
      master: at("a", [0, undefined], [2, "b"]),
    },
    [["VrrpFailover", 2, { labels: { appliance: "b" }, until: 250 }]],
    [
      ["vrrp_state", { appliance: "a", state: "BACKUP" }, at(0, [0, 1])],
      ...took("unknown", "; why is not known", [2, 1], [8, undefined]),
      ...took("stepped_down", ", which stepped down", [8, 1], [302, undefined]),
    ],
  ),
  trouble("there-and-back", { master: at("a", [0, "b"], [200, "a"]) }, [
    ["VrrpFailover", 0, { labels: { appliance: "b" }, until: 200 }],
    ["VrrpFailover", 200, { ...OF_A, until: 450 }],
  ]),
  trouble(
    "crash",
    { appliances: PAIR_A_DOWN, group: at("one_master", [0, "backup_lost"]), master: at("a", [0, "b"]) },
    [
      ["VrrpFailover", 0, { labels: { appliance: "b" } }],
      ["VrrpRedundancyLost", 180],
      ["ApplianceDown", 240, { ...OF_A, silenced: true }],
    ],
    [
      ["vrrp_state", { appliance: "b", state: "MASTER" }, at(1)],
      ...took("silent", ", which stopped answering (connect)", [0, 1], [300, undefined]),
    ],
  ),
  // A reboot.
  trouble(
    "backup-restarts",
    {
      appliances: { a: [[0, "up"]], b: at("up", [0, "down"], [140, "up"]) },
      group: at("one_master", [0, "backup_lost"], [140, "one_master"]),
    },
    [],
  ),
  trouble("backup-off", { group: at("one_master", [0, "no_backup"], [300, "one_master"]) }, [
    ["VrrpRedundancyLost", 180, { until: 390 }],
  ]),
  trouble(
    "backup-refuses",
    {
      appliances: { a: [[0, "up"]], b: at("up", [0, "down"], [30, "refused"]) },
      group: at("one_master", [0, "backup_lost"], [30, "backup_unknown"]),
    },
    [["ApplianceRefused", 390, { labels: { appliance: "b" } }]],
    [["vrrp_group_preferred_master", { vhid: "1", vip: "192.0.2.100" }, at(1, [0, 0])]],
  ),
  trouble(
    "backup-lost-and-refuses",
    {
      appliances: { a: [[0, "up"]], b: at("up", ...byTurns(50, 18, "down", "refused")) },
      group: at("one_master", ...byTurns(50, 18, "backup_lost", "backup_unknown")),
    },
    [
      ["VrrpRedundancyLost", 180],
      ["ApplianceDown", 240, { labels: { appliance: "b" }, silenced: true }],
    ],
  ),
  trouble(
    "split",
    outage("split_brain", 100),
    [["VrrpSplitBrain", 0, { until: 460 }]],
    ["a", "b"].map((appliance) => ["vrrp_state", { appliance, state: "MASTER" }, at(1)] as const),
  ),
  trouble(
    "split-powered-off",
    {
      appliances: { a: at("up", [60, "down"]), b: [[0, "up"]] },
      group: at("one_master", [0, "split_brain"], [60, "unknown"], [180, "backup_lost"]),
      master: at("b", [0, undefined], [180, "b"]),
    },
    [
      ["VrrpSplitBrain", 0, { until: 420 }],
      ["VrrpRedundancyLost", 360],
      ["ApplianceDown", 300, { ...OF_A, silenced: true }],
    ],
  ),
  trouble("headless", outage("no_master", 100), [["VrrpNoMaster", 5, { until: 220 }]]),
  trouble(
    "master-on-each-link",
    {
      links: {
        vlan10: { group: [[0, "one_master"]], master: [[0, "a"]] },
        vlan20: { group: [[0, "one_master"]], master: [[0, "b"]] },
      },
    },
    [],
  ),
  trouble(
    "headless-link",
    {
      links: {
        vlan10: { group: [[0, "one_master"]], master: [[0, "a"]] },
        vlan20: { group: at("one_master", [0, "no_master"]), master: at("a", [0, undefined]) },
      },
    },
    [["VrrpNoMaster", 5]],
  ),
  trouble(
    "lonely-link",
    {
      links: {
        vlan10: { group: [[0, "one_master"]], master: [[0, "a"]] },
        vlan20: { group: at("one_master", [0, "no_backup"]), master: [[0, "a"]] },
      },
    },
    [["VrrpRedundancyLost", 180]],
  ),
  trouble(
    "failover-on-a-link",
    {
      links: {
        vlan10: { group: [[0, "one_master"]], master: [[0, "a"]] },
        vlan20: { group: [[0, "one_master"]], master: at("a", [0, "b"]) },
      },
    },
    [["VrrpFailover", 0, { labels: { appliance: "b" }, until: 250 }]],
  ),
  // All members are known, but nobody can tell which of their interfaces are on one link.
  trouble(
    "unknown-links",
    { vips: 0, links: { em0: { group: at("one_master", [0, "unknown"]), master: [] } } },
    [],
    [["vrrp_group_unknown_members", { vhid: "9", vip: "fe80::1", interface: "em0" }, at(0)]],
  ),
  trouble(
    "master-not-reached",
    {
      appliances: PAIR_A_DOWN,
      ...outage("unknown", 10_000),
      websites: { shop: at("up", [0, "unknown"]) },
    },
    [
      ["VrrpMasterUnknown", 40],
      ["ApplianceDown", 240, { ...OF_A, silenced: true }],
    ],
  ),
  trouble(
    "password-changed",
    {
      appliances: { a: at("up", [0, "refused"], [500, "up"]), b: at("up", [0, "refused"], [510, "up"]) },
      ...outage("unknown", 500),
    },
    [
      ["VrrpMasterUnknown", 40, { until: 620 }],
      ["ApplianceRefused", 240, { ...OF_A, silenced: true, until: 560 }],
      ["ApplianceRefused", 240, { labels: { appliance: "b" }, silenced: true, until: 570 }],
    ],
  ),
  trouble(
    "one-of-three",
    { appliances: { a: [[0, "up"]], b: [[0, "up"]], c: at("up", [0, "down"], [500, "up"]) } },
    [["ApplianceDown", 240, { labels: { appliance: "c" }, until: 560 }]],
  ),
  trouble(
    "dark",
    {
      appliances: { a: at("up", [0, "down"], [500, "up"]), b: at("up", [2, "down"], [500, "up"]) },
      ...outage("unknown", 500),
    },
    [
      ["ClusterDark", 32, { until: 650 }],
      ["VrrpMasterUnknown", 40, { silenced: true, until: 620 }],
      ["ApplianceDown", 240, { ...OF_A, silenced: true, until: 560 }],
      ["ApplianceDown", 242, { labels: { appliance: "b" }, silenced: true, until: 560 }],
    ],
  ),
  trouble(
    "alone",
    {
      appliances: { a: at("up", [0, "down"]) },
      group: undefined,
      websites: websitesThat([0, "unknown"]),
    },
    [
      ["ClusterDark", 30],
      ["ApplianceDown", 240, { ...OF_A, silenced: true }],
    ],
  ),
  trouble(
    "flapping",
    { master: at("a", [0, "b"], [200, "a"], [210, "b"]) },
    [
      ["VrrpFailover", 0, { labels: { appliance: "b" }, until: 200 }],
      ["VrrpFlapping", 200],
    ],
    [["vrrp_transitions_total", { appliance: "a", interface: "carp0" }, at(0, [0, 1], [200, 8])]],
  ),
  trouble(
    "not-preferred",
    {},
    [["VrrpPreferredMasterLost", 600]],
    [["vrrp_group_preferred_master", { vhid: "1", vip: "192.0.2.100" }, at(1, [0, 0])]],
  ),
  trouble(
    "certificates",
    {},
    [["ApplianceCertificateExpiring", -60, OF_A]],
    // Expired and pinned: nobody is paged.
    [
      ["appliance_tls_certificate_state", { appliance: "a", state: "expires_soon" }, at(1)],
      ["appliance_tls_certificate_state", { appliance: "b", state: "expires_soon" }, at(0)],
      ["appliance_tls_certificate_state", { appliance: "b", state: "expired" }, at(1)],
    ],
  ),
  trouble(
    "deviating",
    {},
    [["ApplianceApiAnomalies", 300, OF_A]],
    [["appliance_api_anomalies", { appliance: "a", anomaly: "bad_field" }, at(0, [0, 2])]],
  ),
  ...TOLD.map(([name, kind, waits, appliance]) => {
    const own = `told-${kind.replaceAll("_", "-")}`;
    const labels = { kind, subject: appliance ?? own, ...(appliance === undefined ? {} : { appliance }) };
    return trouble(own, {}, [[name, waits, { labels }]], told(kind, labels.subject, [0, 1]));
  }),
  trouble(
    "half-known",
    { websites: { shop: at("up") } },
    [["WebsiteUnknown", 75, { labels: { ...SHOP.labels, severity: "warning" } }]],
    told("website_partially_unknown", "#shop", [0, 1]),
  ),
  // Of its other protocol nothing is ever known.
  trouble(
    "website-down",
    { websites: { shop: at("up", [0, "down"], [200, "up"]) } },
    [["WebsiteDown", 45, { ...SHOP, until: 260 }]],
    [["website_state", { ...SHOP.labels, protocol: "http", state: "unknown" }, at(1)]],
  ),
  // Not known is not up again.
  trouble(
    "website-down-then-hangs",
    { websites: { shop: at("up", [0, "down"], [200, "unknown"], [500, "up"]) } },
    [["WebsiteDown", 45, { ...SHOP, until: 560 }]],
  ),
  trouble(
    "other-ids",
    { websites: { shop: at("up", [0, "down_at_master"]) } },
    [["WebsiteDown", 45, SHOP]],
    [
      statusOf("a", SHOP.labels, 200),
      statusOf("b", { ...SHOP.labels, website_id: "5", website: "store" }, 503),
      statusOf("b", { ...SHOP.labels, website: "blog", address: "#blog" }, 599),
      ...told("website_down", "#shop", [0, 1]),
      ...took("fault", ", which reported FAULT", [0, 1], [300, undefined]),
    ],
  ),
  // At a third member, which would not take over.
  trouble(
    "partially",
    { websites: { shop: at("up", [0, "partially_down"], [300, "down"], [500, "up"]) } },
    [
      ["WebsitePartiallyDown", 120, { ...SHOP, until: 500 }],
      ["WebsiteDown", 345, { ...SHOP, until: 560 }],
    ],
    [
      [
        "failover_risk_info",
        {
          appliance: "a",
          successor: "c",
          risk: "website_down",
          effect: "none",
          address: SHOP.labels.address,
        },
        at(1),
      ],
    ],
  ),
  trouble(
    "backends-lost",
    { websites: { shop: [[0, "up"]] } },
    [["WebsiteBackendsLost", 90, { ...SHOP, until: 300 }]],
    [backends("none_usable", at(0, [0, 1], [300, 0])), ...FAILED_SERVERS],
  ),
  // The second server fails, then the third.
  trouble(
    "backends-fail",
    { websites: { shop: [[0, "up"]] } },
    [
      ["WebsiteBackendDown", 120, { ...SHOP, until: 800 }],
      ["WebsiteBackendsLost", 320, { labels: { ...SHOP.labels, severity: "warning" }, until: 800 }],
      ["WebsiteBackendsLost", 590, { labels: { ...SHOP.labels, severity: "critical" }, until: 800 }],
    ],
    [
      backends("some_down", at(0, [0, 1], [200, 0])),
      backends("none_usable_but_up", at(0, [200, 1], [500, 0])),
      backends("none_usable", at(0, [500, 1], [800, 0])),
    ],
  ),
  trouble(
    "not-ready",
    {},
    [["FailoverNotReady", 120, { ...OF_A, until: 360 }]],
    failover(at("ready", [0, "losses"], [300, "ready"])),
  ),
  // Its members are synchronized one after the other.
  trouble("synchronizing", {}, [], failover(at("ready", [0, "losses"], [100, "ready"]))),
  trouble(
    "not-ready-fails-over",
    { master: at("a", [60, "b"]) },
    [["VrrpFailover", 60, { labels: { appliance: "b" } }]],
    failover(at("ready", [0, "losses"], [60, undefined])),
  ),
  trouble(
    "not-ready-then-no-backup",
    { group: at("one_master", [300, "no_backup"], [600, "one_master"]) },
    [
      ["FailoverNotReady", 120, { ...OF_A, until: 360 }],
      ["VrrpRedundancyLost", 480, { until: 690 }],
      ["FailoverNotReady", 720, OF_A],
    ],
    failover(at("ready", [0, "losses"], [300, "outage"], [600, "losses"])),
  ),
  // Of three members, the third is master of another group, for which there is a backup.
  trouble(
    "two-masters",
    { group: at("one_master", [0, "no_backup"]) },
    [
      ["VrrpRedundancyLost", 180],
      ["FailoverNotReady", 240, { ...OF_A, silenced: true }],
    ],
    failover(at("ready", [120, "losses"])),
  ),
  trouble(
    "down-at-successor",
    { websites: { shop: at("up", [0, "partially_down"]) } },
    [["FailoverNotReady", 120, OF_A]],
    failover(at("ready", [0, "losses"]), {
      risk: "website_down",
      subject: "shop https",
      address: SHOP.labels.address,
    }),
  ),
  trouble(
    "more-losses",
    { websites: { shop: at("up", [0, "partially_down"]) } },
    [["FailoverNotReady", 120, OF_A]],
    failover(at("ready", [0, "losses"]), { successor: "", subject: "more" }),
  ),
  trouble(
    "servers-down-at-successor",
    { websites: SHOP_UP },
    [["FailoverNotReady", 120, OF_A]],
    [
      backends("some_down", at(0, [0, 1])),
      ...failover(at("ready", [0, "losses"]), {
        risk: "website_backends_lost",
        address: SHOP.labels.address,
      }),
    ],
  ),
  trouble("hanging", { websites: { shop: at("up", [0, "unknown"]) } }, [["WebsiteUnknown", 75, SHOP]]),
  trouble(
    "unstable",
    {
      websites: {
        shop: at("up", [0, "down"], [100, "up"], [150, "down"], [250, "up"], [300, "down"], [400, "up"]),
      },
    },
    [
      ["WebsiteUnstable", 400],
      ["WebsiteDown", 45, { ...SHOP, until: 460 }],
    ],
  ),
  // No website was down.
  trouble(
    "api-away",
    {
      websites: {
        shop: at(
          "up",
          [0, "unknown"],
          [30, "up"],
          [150, "unknown"],
          [180, "up"],
          [300, "unknown"],
          [330, "up"],
        ),
      },
    },
    [],
  ),
  trouble("tests-away", { websites: websitesThat([0, "unknown"], [40, "up"]) }, []),
  trouble("all-hang", { websites: websitesThat([0, "unknown"]) }, [
    ["WebsitesDown", 65],
    ...["shop", "blog", "news"].map(
      (each) => ["WebsiteUnknown", 75, { ...of(each), silenced: true }] as const,
    ),
  ]),
  trouble("flaky", { websites: { shop: at("up", [0, "unstable"], [200, "up"]) } }, [
    ["WebsiteUnstable", 0, { until: 200 }],
  ]),
  // Their tests are spread over 30 seconds.
  trouble(
    "common-cause",
    {
      websites: {
        shop: at("up", [0, "down"]),
        blog: at("up", [15, "down_at_master"]),
        news: at("up", [30, "unknown"]),
        wiki: [[0, "up"]],
      },
    },
    [
      ["WebsitesDown", 40],
      ["WebsiteDown", 45, { ...SHOP, silenced: true }],
      ["WebsiteDown", 60, { ...of("blog"), silenced: true }],
      ["WebsiteUnknown", 105, { ...of("news"), silenced: true }],
    ],
  ),
];

/** Two values by turns, so many times, from the event on. */
function byTurns<const Value>(
  seconds: number,
  times: number,
  ...values: readonly [Value, Value]
): readonly (readonly [after: number, value: Value])[] {
  return Array.from({ length: times }, (_, nth) => [nth * seconds, nth % 2 === 0 ? values[0] : values[1]]);
}

/** Two sites, one of which is lost; and clusters of no site. */
const SITE_DOWN: ClusterSetup = {
  site: "amsterdam",
  appliances: { a: at("up", [0, "down"], [500, "up"]), b: at("up", [4, "down"], [500, "up"]) },
  ...outage("unknown", 500),
};

function silencedIn(name: string): readonly Expected[] {
  const labels = { ha_cluster: name, site: "amsterdam" };
  return [
    alert("ClusterDark", labels, 34, { silenced: true, until: 650 }),
    alert("VrrpMasterUnknown", labels, 40, { silenced: true, until: 620 }),
    alert("ApplianceDown", { ...labels, appliance: "a" }, 240, { silenced: true, until: 560 }),
    alert("ApplianceDown", { ...labels, appliance: "b" }, 244, { silenced: true, until: 560 }),
  ];
}

/** Clusters of which no appliance can be polled any more, with this state. */
function lost(state: "down" | "refused" | "unknown", names = ["ams", "utr"], until = 300): readonly Series[] {
  const gone = at<typeof state | "up">("up", [0, state], [until, "up"]);
  return names.flatMap((name) =>
    cluster(name, {
      appliances: { a: gone, b: gone },
      ...outage("unknown", until),
      websites: { shop: at("up", [0, "unknown"], [until, "up"]) },
    }),
  );
}

const LASTING = { group: at("split_brain"), master: [] } satisfies ClusterSetup;
const ENDS: Steps<0 | 1> = at<0 | 1>(1, [0, 0]);
const TWICE = [...cluster("ams"), ...cluster("utr")];
const UNSEEN = ["ams", "utr"].map((name) => alert("ClusterUnseen", { ha_cluster: name }, 0, { until: 300 }));
const BLIND = [
  ...UNSEEN,
  alert("ApplianceExporterBlind", { ...JOB, shard: "0", total: "1" }, 10, { until: 300 }),
];

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
  return {
    name,
    exporters: [exporter("one:1", [...healthy(9), ...troubles.flatMap(({ says }) => says)])],
    expected: troubles.flatMap(({ expected }) => expected),
    lastsSeconds: EVENT + 900,
  };
}

const TOGETHER = [0, 1, 2].map((part) =>
  together(
    `troubles of single clusters, part ${part + 1}`,
    TROUBLES.filter((_, nth) => nth % 3 === part),
  ),
);

const ALONE: readonly Scenario[] = [
  {
    name: "nothing is wrong, with two exporters, one of which restarts",
    exporters: [
      exporter("one:1", healthy(4)),
      exporter("two:1", healthy(4), { up: at<0 | 1>(1, [0, 0], [20, 1]) }),
    ],
    expected: [],
    lastsSeconds: EVENT + 300,
  },
  {
    name: "a site is lost",
    exporters: [
      exporter("one:1", [...healthy(4), ...cluster("ams-1", SITE_DOWN), ...cluster("ams-2", SITE_DOWN)]),
    ],
    expected: [
      alert("SiteDark", { site: "amsterdam" }, 24, { until: 680 }),
      ...["ams-1", "ams-2"].flatMap(silencedIn),
    ],
    lastsSeconds: EVENT + 900,
  },
  ...(["down", "unknown", "refused"] as const).map((state) => ({
    name: `all appliances are ${state} to the only exporter`,
    exporters: [exporter("one:1", lost(state))],
    expected: BLIND,
    lastsSeconds: EVENT + 600,
  })),
  {
    name: "the exporter cannot poll one cluster by its own fault",
    exporters: [exporter("one:1", [...healthy(4), ...lost("unknown", ["ams"], 400)])],
    expected: [
      stuck("critical", 60, { until: 460 }),
      stuck("warning", 180, { silenced: true, until: 400 }),
      alert("ClusterUnseen", { ha_cluster: "ams" }, 0, { until: 400 }),
    ],
    lastsSeconds: EVENT + 700,
  },
  {
    name: "the exporter cannot poll a backup by its own fault, and later its master",
    exporters: [
      exporter("one:1", [
        ...healthy(4),
        ...cluster("ams", {
          appliances: { a: at("up", [300, "unknown"]), b: at("up", [0, "unknown"]) },
          group: at("one_master", [0, "backup_unknown"], [300, "unknown"]),
          master: at("a", [300, undefined]),
        }),
      ]),
    ],
    expected: [
      stuck("warning", 180),
      stuck("critical", 360),
      alert("ClusterUnseen", { ha_cluster: "ams" }, 300),
    ],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "one of two exporters is cut off; meanwhile a group fails over and an appliance refuses the credentials",
    exporters: [
      exporter("one:1", [
        ...lost("down", undefined, 1000),
        ...cluster("den", { appliances: { a: at("up", [0, "down"]) }, group: undefined }),
      ]),
      exporter("two:1", [
        ...cluster("den", { appliances: { a: at("up", [100, "refused"]) }, group: undefined }),
        ...cluster("ams", { master: at("a", [100, "b"]), websites: SHOP_UP }),
        ...cluster("utr", { websites: SHOP_UP }),
      ]),
    ],
    expected: [
      stuck("warning", 180),
      alert("VrrpFailover", { ha_cluster: "ams", appliance: "b" }, 100),
      alert("ApplianceRefused", { ha_cluster: "den", appliance: "a" }, 340),
    ],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "one of two exporters knows what visitors would lose, restarts, and dies later",
    exporters: [
      exporter(
        "one:1",
        [...healthy(1), ...trouble("ams", {}, [], failover(at("ready", [0, "losses"]))).says],
        { up: at<0 | 1>(1, [300, 0], [330, 1], [600, 0]) },
      ),
      exporter("two:1", [
        ...healthy(1),
        ...trouble("ams", {}, [], failover(at("ready", [0, "unknown"]))).says,
      ]),
    ],
    expected: [
      alert("FailoverNotReady", { ha_cluster: "ams", appliance: "a" }, 120, { until: 750 }),
      alert("ApplianceExporterDown", { ...JOB, instance: "one:1", severity: "warning" }, 780),
    ],
    lastsSeconds: EVENT + 1000,
  },
  {
    name: "the network is partitioned: each of two exporters sees one master, and the third member is down",
    exporters: ["a", "b"].map((seen, index) =>
      exporter(`${index}:1`, [
        ...healthy(4),
        ...cluster("ams", {
          appliances: {
            a: seen === "a" ? [[0, "up"]] : at("up", [0, "down"]),
            b: seen === "b" ? [[0, "up"]] : at("up", [0, "down"]),
            c: at("up", [0, "down"]),
          },
          group: at("one_master", [0, "backup_lost"]),
          master: at("a", [0, seen]),
        }),
      ]),
    ),
    expected: [
      alert("VrrpMastersDisputed", { ha_cluster: "ams" }, 120),
      alert("ApplianceDown", { ha_cluster: "ams", appliance: "c" }, 240),
    ],
    // While a scrape of one exporter fails, nobody contradicts the other.
    ifScrapesAreLost: "VrrpFailover",
    lastsSeconds: EVENT + 400,
  },
  {
    name: "the only exporter dies during an outage, and is back later",
    exporters: [
      exporter("one:1", [...TWICE, ...healthy(1), ...cluster("lasting", LASTING)], {
        up: at<0 | 1>(1, [0, 0], [600, 1]),
      }),
    ],
    expected: [
      alert("VrrpSplitBrain", { ha_cluster: "lasting" }, -60),
      alert("ApplianceExporterAbsent", {}, 120, { until: 600 }),
      ...["ams", "utr", "healthy-0", "lasting"].map((name) =>
        alert("ClusterUnseen", { ha_cluster: name }, 90),
      ),
    ],
    lastsSeconds: EVENT + 900,
  },
  {
    name: "one of two exporters dies",
    exporters: [exporter("one:1", TWICE, { up: ENDS }), exporter("two:1", TWICE)],
    expected: [alert("ApplianceExporterDown", { ...JOB, instance: "one:1", severity: "warning" }, 180)],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "one of two exporters stops polling, and the other one dies",
    exporters: [
      exporter("one:1", [...TWICE, pollsUntil(EVENT)]),
      exporter("two:1", [...TWICE, pollsUntil(Number.POSITIVE_INFINITY)], {
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
    exporters: [
      exporter("one:1", cluster("ams", LASTING), { shard: "0/2", up: ENDS }),
      exporter("two:1", cluster("utr"), { shard: "1/2" }),
    ],
    expected: [
      alert("VrrpSplitBrain", { ha_cluster: "ams" }, -60),
      alert("ClusterUnseen", { ha_cluster: "ams" }, 90),
      alert("ApplianceExporterDown", { ...JOB, instance: "one:1" }, 150),
      alert("ApplianceExporterShardMissing", JOB, 150, { silenced: true }),
    ],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "the exporter of a shard is no target any more",
    exporters: [
      exporter("one:1", cluster("ams"), { shard: "0/2", up: at<0 | 1>(1, [0, undefined]) }),
      exporter("two:1", cluster("utr"), { shard: "1/2" }),
    ],
    expected: [alert("ApplianceExporterShardMissing", JOB, 150)],
    lastsSeconds: EVENT + 500,
  },
  {
    name: "the exporter has an invalid configuration and a full disk, and polls late",
    exporters: [
      exporter("one:1", [
        ...TWICE,
        series("appliance_exporter_config_last_reload_successful", {}, at(1, [0, 0])),
        series("appliance_exporter_storage_up", {}, at(1, [0, 0])),
        {
          metric: "appliance_exporter_polls_skipped_total",
          labels: { reason: "missed" },
          valueAt: (second) => Math.max(0, (second - EVENT) * 10 + 10),
        },
      ]),
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
