import { expect, test } from "vitest";
import { ALERTS } from "./alert-rules.ts";
import { testRules, textsOf } from "./rule-tests.ts";
import { at, EVENT } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import { cluster, exporter, scrape, series } from "./world.ts";

const sent = (await Promise.all(SCENARIOS.map((each) => textsOf(each)))).flat();

/** `subject`: a cluster or a site. */
function textOf(alert: string, subject: string): readonly string[] {
  return sent
    .filter(({ labels }) => labels["alertname"] === alert)
    .filter(({ labels }) => (labels["ha_cluster"] ?? labels["site"]) === subject)
    .map(({ annotations: { summary, description, incident = "", page } }) =>
      `${summary}. ${description} ${incident} ${page}`.replaceAll("  ", " "),
    );
}

const SUBJECTS = ["appliance", "ha_cluster", "website", "site", "instance", "job"];

test("every alert names what it is about, and no template in it is broken", () => {
  expect(new Set(sent.map(({ labels }) => labels["alertname"]))).toEqual(
    new Set(ALERTS.map(({ alert }) => alert)),
  );
  const faults = sent.flatMap(({ labels, annotations }) => {
    const { summary = "", description = "", page = "", runbook_url: url = "" } = annotations;
    const text = `${summary} ${description} ${page}`;
    const section = `#${labels["alertname"]?.toLowerCase()}`;
    const base = /^(?:http:\/\/\w+:1\/runbook|file:\/\/\/.*\/runbook\.md)#\w+$/;
    const isOfCluster = labels["ha_cluster"] !== undefined;
    const isOfInstance = labels["instance"] !== undefined;
    const unnamed = SUBJECTS.filter((label) => !(label === "site" && isOfCluster))
      .filter((label) => !(label === "job" && isOfInstance))
      .filter((label) => !text.includes(labels[label] ?? ""));
    const isBroken = Object.values(annotations).some((each) =>
      /<no value>|<error|%!|\{\{|NaN|\[\]|  | [.,;:]|^\s|\s$/.test(each),
    );
    const isLinked = base.test(url) && url.endsWith(section);
    return unnamed.length > 0 || isBroken || !isLinked
      ? [`${labels["alertname"]} ${unnamed.join()}: ${text} ${url}`]
      : [];
  });
  expect(faults).toEqual([]);
});

test.for([
  [
    "SiteDark",
    "amsterdam",
    "Site amsterdam is dark: none of its 4 appliances is reached. Look for power and uplinks. Seen: connect at appliances: 4; http://one:1/?label=site%3Damsterdam",
  ],
  [
    "VrrpFailover",
    "crash",
    "Failover: b is the new master of cluster crash, VIPs: 2: 192.0.2.100 192.0.2.101; b took over from a, which stopped answering (connect). Seen: 192.0.2.100 backup_lost; 192.0.2.101 backup_lost; a: it cannot be reached (connect); b is MASTER; b took over from a, which stopped answering (connect); backup_lost VIPs: 2; http://one:1/?incident=one http://one:1/?cluster=crash#cluster-crash",
  ],
  [
    "VrrpNoMaster",
    "headless-link",
    "No appliance of cluster headless-link is master, VIPs that nobody serves: 1. Look at its interfaces and health checks. Seen: fe80::1 vlan20 no_master; no_master VIPs: 1; one_master VIPs: 3; http://one:1/?cluster=headless-link#cluster-headless-link",
  ],
  [
    "VrrpFailover",
    "failover-on-a-link",
    "Failover: b is the new master of cluster failover-on-a-link, VIPs: 1: fe80::1 (vlan20). Seen: one_master VIPs: 4; http://one:1/?cluster=failover-on-a-link#cluster-failover-on-a-link",
  ],
  [
    "VrrpFailover",
    "failover",
    "Failover: b is the new master of cluster failover, VIPs: 2: 192.0.2.100 192.0.2.101; b took over from a, which stepped down. Seen: a is BACKUP; b took over from a, which stepped down; one_master VIPs: 2; http://one:1/?incident=one http://one:1/?cluster=failover#cluster-failover",
  ],
  [
    "VrrpSplitBrain",
    "split",
    "Split brain in cluster split, VIPs with two masters: 2. Fix the link between these, or stop VRRP on one. Seen: 192.0.2.100 split_brain; 192.0.2.101 split_brain; a is MASTER; b is MASTER; split_brain VIPs: 2; http://one:1/?cluster=split#cluster-split",
  ],
  [
    "VrrpMasterUnknown",
    "password-changed",
    "The master of cluster password-changed is not known, VIPs that perhaps nobody serves: 2. Try these. Seen: 192.0.2.100 unknown; 192.0.2.101 unknown; a: it refuses the credentials (auth); b: it refuses the credentials (auth); unknown VIPs: 2; http://one:1/?cluster=password-changed#cluster-password-changed",
  ],
  [
    "ApplianceRefused",
    "backup-refuses",
    "Appliance b of cluster backup-refuses answers, but not to the exporter: nobody watches it. Seen: 192.0.2.100 backup_unknown; 192.0.2.101 backup_unknown; b: it refuses the credentials (auth); backup_unknown VIPs: 2; http://one:1/?cluster=backup-refuses#cluster-backup-refuses",
  ],
  [
    "WebsiteDown",
    "other-ids",
    "Website shop (cluster other-ids) is down. https is down_at_master; HTTP status, 0 for none: 200 at a; 503 at b; b took over from a, which reported FAULT; http://one:1/?incident=two http://one:1/?cluster=other-ids#cluster-other-ids",
  ],
  [
    "FailoverNotReady",
    "down-at-successor",
    "If a of cluster down-at-successor fails, visitors lose something that its successor lacks. Fix there what would be lost, at most eight: shop https at b (website_down); http://one:1/?cluster=down-at-successor#cluster-down-at-successor",
  ],
  [
    "FailoverNotReady",
    "more-losses",
    "If a of cluster more-losses fails, visitors lose something that its successor lacks. Fix there what would be lost, at most eight: more (website_missing); http://one:1/?cluster=more-losses#cluster-more-losses",
  ],
  [
    "WebsiteUnstable",
    "unstable",
    "Websites of cluster unstable come and go, were down three times in 15 minutes or ten tests: 1. At most eight: shop; http://one:1/?cluster=unstable#cluster-unstable",
  ],
] as const)("%s of %s has what somebody needs to know first", ([alert, subject, text]) => {
  expect(textOf(alert, subject)).toContain(text);
});

test("texts have the cause of a failover from the exporter that knows it", async () => {
  const exporters = (["unknown", "silent"] as const).map((cause, nth) => {
    const own = { ha_cluster: "ams", incident: String(nth) };
    return exporter(`${nth}:1`, [
      series("ha_cluster_failover_info", { ...own, from: "a", to: "b", cause }, [[0, 1]]),
      series("ha_cluster_problem_words_info", { ...own, kind: "failover", subject: "b", summary: cause }, [
        [0, 1],
      ]),
    ]);
  });
  const labels = 'subject:words:info{ha_cluster="ams",subject="b",summary="silent",words="silent"}';
  const output = await testRules(5, {
    interval: "5s",
    input_series: scrape(exporters, 10, { seconds: 5, losesScrapes: false }),
    promql_expr_test: [{ eval_time: "10s", expr: "subject:words:info", exp_samples: [{ labels, value: 1 }] }],
  });
  expect(output).toMatch(/SUCCESS$/);
});

test("links lead to the external URLs of the exporters that answer, each once, and the runbook is one link", async () => {
  const split = cluster("ams", {
    group: at("one_master", [0, "split_brain"]),
    master: at("a", [0, undefined]),
  });
  const [externalUrl, gone] = ["https://exporter.example.org/base", "https://gone.example.org"];
  const exporters = [
    exporter("one:1", split),
    exporter("two:1", split, { externalUrl }),
    exporter("three:1", split, { externalUrl }),
    exporter("four:1", split, { externalUrl: gone, up: at<0 | 1>(1, [-100, 0]) }),
  ];
  const expected = [{ alert: "VrrpSplitBrain", labels: { ha_cluster: "ams" }, after: 0 }];
  const [text] = await textsOf({ name: "", exporters, expected, lastsSeconds: EVENT + 30 });
  expect(text?.annotations).toMatchObject({
    page: `http://one:1/?cluster=ams#cluster-ams ${externalUrl}/?cluster=ams#cluster-ams`,
    runbook_url: "http://one:1/runbook#vrrpsplitbrain",
  });
});

test("a text names at most eight servers", () => {
  expect(textOf("WebsiteBackendsLost", "backends-lost")).toContainEqual(
    expect.stringMatching(/report them:( 192\.0\.2\.1:80\d \(active\) at a;){8} http/),
  );
});
