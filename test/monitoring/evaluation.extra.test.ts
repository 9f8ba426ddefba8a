import { once } from "node:events";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { portOf } from "../support/fault-server.ts";
import { startPrometheus } from "../support/prometheus-server.ts";
import { RULES_TEXT } from "./alert-rules.ts";
import { judged, type Course } from "./judged.ts";
import { nameOf, series, type Series } from "./world.ts";

const STARTED = 30;
const SPLIT = 60;

function times<Of>(count: number, make: (nth: number) => readonly Of[]): readonly Of[] {
  return Array.from({ length: count }, (_, nth) => make(nth)).flat();
}

/** A cluster whose websites are all down. */
function deadWebsites(cluster: string, members: readonly string[], websites: number): Course {
  const down = Object.fromEntries(members.map((name) => [name, [[0, 503]] as const]));
  return {
    cluster,
    members: Object.fromEntries(
      members.map((name, nth) => [name, [[0, nth === 0 ? "MASTER" : "BACKUP"]] as const]),
    ),
    websites: Object.fromEntries(times(websites, (nth) => [[`website-${nth}`, down] as const])),
  };
}

/** A cluster of eight with as many VIPs as an appliance can have, all with two masters. */
const WIDE: Course = {
  cluster: "wide",
  members: Object.fromEntries(
    times(8, (nth) => [
      [
        `wide-${nth}`,
        [
          [
            0,
            Array(1024)
              .fill(nth < 2 ? "MASTER" : "BACKUP")
              .join("+"),
          ],
        ] as const,
      ] as const,
    ]),
  ),
};

/** What the work of an evaluation is compared with: as many alerts, each with a text of a few queries for one series. */
const ALERTS = 1000;
const REFERENCE = {
  name: "reference",
  rules: [
    {
      alert: "Reference",
      expr: "reference == 1",
      annotations: {
        text: '{{ range query (printf "reference{id=%q}" $labels.id) }}{{ .Value }}{{ end }}'.repeat(3),
      },
    },
  ],
};

/** Serves the series as at the second that was set last. */
async function serve(all: readonly Series[]) {
  let now = STARTED;
  const server = createServer((_, response) => {
    const lines = all.flatMap(({ metric, labels, valueAt }) => {
      const value = valueAt(now);
      return value === undefined ? [] : [`${nameOf(metric, labels)} ${value}\n`];
    });
    response.end(lines.join(""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    target: `127.0.0.1:${portOf(server)}`,
    set: (second: number) => {
      now = second;
    },
  };
}

test("an evaluation costs a few queries for each alert, whatever one cluster has, and other clusters are seen", async () => {
  const courses = [
    // All websites of one appliance that a configuration may have.
    deadWebsites("hostile", ["hostile-0"], 200),
    WIDE,
    ...times(100, (nth) => [deadWebsites(`honest-${nth}`, ["a", "b"], 2)]),
    {
      cluster: "other",
      members: {
        a: [[0, "MASTER"]],
        b: [
          [0, "BACKUP"],
          [SPLIT, "MASTER"],
        ],
      },
    } satisfies Course,
  ];
  const exporter = await serve([
    series("appliance_exporter_build_info", {}, [[0, 1]]),
    ...times(ALERTS, (id) => [series("reference", { id: String(id) }, [[0, 1]])]),
    ...(await judged(courses, SPLIT + 10)),
  ]);
  const interval = "3s";
  const prometheus = await startPrometheus(
    {
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      rule_files: ["*.rules.yml"],
      scrape_configs: [{ job_name: "appliance-exporter", static_configs: [{ targets: [exporter.target] }] }],
    },
    {
      "appliance-exporter.rules.yml": RULES_TEXT,
      "reference.rules.yml": JSON.stringify({ groups: [REFERENCE] }),
    },
  );
  onTestFinished(prometheus.stop);
  await eventually(async () => {
    const counts = await prometheus.query(
      'count by (alertname) (ALERTS{alertname=~"Website(s?Down)|Reference|VrrpSplitBrain",alertstate="firing"})',
    );
    expect(Object.fromEntries(counts.map(({ labels, values }) => [labels["alertname"], values[0]]))).toEqual({
      Reference: ALERTS,
      WebsiteDown: 200,
      WebsitesDown: 1,
      VrrpSplitBrain: 1,
    });
  });
  exporter.set(SPLIT + 10);
  /** By group and evaluation. */
  const seconds = new Map<string, Map<string, number>>();
  await eventually(
    async () => {
      for (const { name, lastEvaluation, evaluationTime } of await prometheus.ruleGroups()) {
        const known = seconds.get(name) ?? new Map<string, number>();
        seconds.set(name, known.set(lastEvaluation, evaluationTime));
      }
      seconds.delete("appliance-exporter-availability");
      for (const known of seconds.values()) expect(known.size).toBeGreaterThan(4);
    },
    { everyMs: 500 },
  );
  const [reference = 0, ...ours] = ["reference", "appliance-exporter", "appliance-exporter-websites"].map(
    (name) => Math.min(...(seconds.get(name)?.values() ?? [])),
  );
  // The best of several evaluations, since other programs take the cores as well. Ours take 3.7 times as long, for more and longer
  // texts; with a join in each text it was 19 times.
  for (const each of ours) expect(each).toBeLessThan(8 * reference);
  const splitBrains = await prometheus.query('ALERTS{alertname="VrrpSplitBrain",alertstate="firing"}');
  expect(splitBrains.map(({ labels }) => labels["ha_cluster"] ?? "").toSorted()).toEqual(["other", "wide"]);
});
