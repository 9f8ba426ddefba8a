import { judged, type Course } from "./judged.ts";
import { alert, at, EVENT, type Expected, type Scenario } from "./scenario.ts";
import { exporter, healthy, series, type Exporter } from "./world.ts";

const LASTS = EVENT + 700;
const WELL: Course["members"] = { a: [[0, "MASTER"]], b: [[0, "BACKUP"]] };
const MADRID = { site: "madrid" };

/** A pair of the site that does not answer from the event until then; each cluster a little later than the one before. */
function pairOf(cluster: string, until: number, from = 0): Course {
  return {
    cluster,
    labels: MADRID,
    members: {
      a: at("MASTER", [from, "silent"], [until, "MASTER"]),
      b: at("BACKUP", [from + 5, "silent"], [until, "BACKUP"]),
    },
  };
}

function site(pairs: number, until: number): readonly Course[] {
  return Array.from({ length: pairs }, (_, nth) => pairOf(`mad-${nth}`, until, nth % 3 === 0 ? 0 : 5));
}

async function seen(courses: readonly Course[]): Promise<readonly Exporter[]> {
  return [exporter("one:1", await judged([...healthy(12), ...courses], LASTS))];
}

/** Probes of the first VIP of these clusters, or of their website by its own name, which answer with this status from the event on. */
function probing(clusters: readonly string[], status: number, vip = "192.0.2.100"): Exporter {
  return {
    labels: { job: `websites-${status}` },
    upAt: () => 1,
    series: clusters.flatMap((ha_cluster) => {
      const labels = {
        ha_cluster,
        website: "shop",
        instance: `https://${vip}/`,
        ...(vip.startsWith("192") ? { vip } : {}),
      };
      return [
        series("probe_http_status_code", labels, at(200, [0, status])),
        series("probe_success", labels, at(1, [0, Number(status === 200)])),
      ];
    }),
  };
}

function dark(severity: "critical" | "warning", after: number, until?: number): Expected {
  return alert("SiteDark", { ...MADRID, severity }, after, until === undefined ? {} : { until });
}

const TEN = Array.from({ length: 10 }, (_, nth) => `mad-${nth}`);

/** The site is wider than its clusters, so these wait for it. Exporters see it about ten seconds after the event. */
export const SITE_SCENARIOS: readonly Scenario[] = [
  ...[20, 40].map((seconds): Scenario => ({
    name: `a site of ten pairs is not reached for ${seconds} s`,
    exporters: () => seen(site(10, seconds)),
    expected: [],
    lastsSeconds: LASTS,
    intervals: [2, 5, 15],
  })),
  {
    name: "a site of ten pairs is not reached for 85 s",
    exporters: () => seen(site(10, 85)),
    expected: [dark("critical", 70, 205)],
    lastsSeconds: LASTS,
    intervals: [2, 5],
  },
  {
    name: "a site of ten pairs is not reached for long",
    exporters: () => seen(site(10, 400)),
    expected: [dark("critical", 70, 520)],
    lastsSeconds: LASTS,
  },
  {
    name: "two of three clusters of a site are not reached",
    exporters: () => seen([...site(2, 400), { cluster: "mad-well", labels: MADRID, members: WELL }]),
    expected: ["mad-0", "mad-1"].map((ha_cluster) =>
      alert("ClusterDark", { ha_cluster }, 80, { until: 520 }),
    ),
    lastsSeconds: LASTS,
  },
  {
    name: "a cluster was dark before its site",
    exporters: () => seen([pairOf("mad-0", 400, -200), pairOf("mad-1", 400), pairOf("mad-2", 400)]),
    expected: [
      alert("ClusterDark", { ha_cluster: "mad-0" }, -160, { until: 520 }),
      dark("critical", 70, 520),
    ],
    lastsSeconds: LASTS,
  },
];

const SHOP_DOWN = { members: WELL, websites: { shop: { a: at(200, [0, 503]), b: at(200, [0, 503]) } } };

/** With the rules about probes. */
export const PROBED_SITES: readonly Scenario[] = [
  {
    name: "the VIPs of a site that is not reached answer probes",
    exporters: async () => [probing(TEN, 200), ...(await seen(site(10, 400)))],
    expected: [dark("warning", 70, 520)],
    lastsSeconds: LASTS,
  },
  {
    name: "the VIPs of one cluster of a site that is not reached answer no probe",
    exporters: async () => [
      probing(TEN.slice(1), 200),
      probing(TEN.slice(0, 1), 0),
      ...(await seen(site(10, 400))),
    ],
    expected: [dark("critical", 70, 520), alert("ProbedVipsDown", { ha_cluster: "mad-0" }, 60)],
    lastsSeconds: LASTS,
  },
  {
    name: "the VIP of one cluster of a site that is not reached answers, and nobody probes the others",
    exporters: async () => [probing(TEN.slice(0, 1), 200), ...(await seen(site(10, 400)))],
    expected: [dark("critical", 70, 520)],
    lastsSeconds: LASTS,
  },
  {
    name: "VIPs of a cluster and the website of another one answer no probe, while appliances are well",
    exporters: async () => [
      probing(["healthy-0"], 0),
      probing(["healthy-1", "healthy-2"], 403, "shop.example.org"),
      exporter("one:1", await judged([...healthy(2), { ...SHOP_DOWN, cluster: "healthy-2" }], LASTS)),
    ],
    expected: [
      alert("ProbedVipsDown", { ha_cluster: "healthy-0" }, 60),
      alert("ProbedWebsiteDown", { ha_cluster: "healthy-1", website: "shop" }, 60),
      alert("WebsiteDown", { ha_cluster: "healthy-2", website: "shop", address: "#2" }, 45),
    ],
    lastsSeconds: LASTS,
  },
];
