import { expect, test } from "vitest";
import { ALERTS, ALL_GROUPS } from "./alert-rules.ts";
import { judged, type Course } from "./judged.ts";
import { textsOf } from "./rule-tests.ts";
import { alert, at, EVENT } from "./scenario.ts";
import { coverAt, SCENARIOS } from "./scenarios.ts";
import { PROBED_SITES } from "./site-scenarios.ts";
import { TROUBLES } from "./troubles.ts";
import { exporter, healthy } from "./world.ts";

const all = [
  ...coverAt(30),
  ...SCENARIOS.filter(({ name }) => /single clusters, part|silent to the only/.test(name)),
];
const sent = (await Promise.all(all.map((each) => textsOf(each)))).flat();
const probed = (await Promise.all(PROBED_SITES.map((each) => textsOf(each, ALL_GROUPS)))).flat();

/** The links of a message about a cluster. */
const LINKS = ["status_url", "incident_url", "runbook_url"] as const;

test("every alert has a sentence and an advice, and no template is broken", () => {
  expect(new Set(sent.map(({ labels }) => labels["alertname"]))).toEqual(
    new Set(ALERTS.map((rule) => rule.alert)),
  );
  const faults = [...sent, ...probed].filter(
    ({ annotations: { summary = "", description = "", ...links } }) => {
      const text = [summary, description, ...Object.values(links)];
      const isBroken = text.some((each) =>
        /<no value>|<error|%!|\{\{|NaN|\[\]|  | [.,;:]|^\s|\s$|[a-z]_[a-z]+[ .]/.test(each),
      );
      return isBroken || summary === "" || description === "";
    },
  );
  expect(faults).toEqual([]);
});

test("a message about a cluster begins with its name, and leads to the exporter", () => {
  const about = sent.filter(({ labels }) => labels["ha_cluster"] !== undefined);
  const wrong = about.filter(({ labels: { ha_cluster: cluster = "" }, annotations }) => {
    const {
      status_url: status,
      incident_url: incident = "",
      runbook_url: runbook,
      summary = "",
    } = annotations;
    const isLinked =
      status === `http://one:1/?cluster=${cluster}#cluster-${cluster}` &&
      /^http:\/\/one:1\/runbook#\w+$/.test(runbook ?? "");
    return (
      !summary.startsWith(`${cluster}: `) ||
      !isLinked ||
      !/^(?:http:\/\/one:1\/\?incident=[\w-]+)?$/.test(incident)
    );
  });
  expect(wrong).toEqual([]);
});

/** Messages as they arrive: the sentence, and what stands below. */
const ARRIVING: readonly (readonly [alert: string, subject: string, summary: string, description: string])[] =
  [
    [
      "VrrpFailover",
      "failover",
      "failover: b took over 192.0.2.100 (vhid 2) from a, which stepped down. No known master for at most 5 s",
      "Since Jan 1 00:06:00 UTC. It can wait if this was intended: otherwise look at the former MASTER, before it happens again",
    ],
    [
      "VrrpFailover",
      "crash",
      "crash: b took over 192.0.2.100 (vhid 2) from a, which stopped answering (timeout). No known master for at most 5 s",
      "Since Jan 1 00:06:00 UTC. It can wait if this was intended: otherwise look at the former MASTER, before it happens again",
    ],
    [
      "VrrpSplitBrain",
      "split",
      "split: a and b are both MASTER of 192.0.2.100",
      "Since Jan 1 00:06:05 UTC. Visitors reach one of them by chance: fix the link between them, or stop VRRP on one",
    ],
    [
      "VrrpNoMaster",
      "headless",
      "headless: Nobody is MASTER of 192.0.2.100",
      "Since Jan 1 00:06:05 UTC. Visitors reach nothing there: look at the interfaces of a and b",
    ],
    [
      "VrrpMasterUnknown",
      "master-not-reached",
      "master-not-reached: a, MASTER of 192.0.2.100 until 22:19:15 UTC, does not answer in time (timeout)",
      "Since Jan 1 00:06:00 UTC. Visitors may be well: try 192.0.2.100, then make a and b answer the exporter",
    ],
    [
      "VrrpMasterUnknown",
      "password-changed",
      "password-changed: a, MASTER of 192.0.2.100 until 22:19:15 UTC, and b refuse the credentials (auth)",
      "Since Jan 1 00:06:00 UTC. Visitors may be well: try 192.0.2.100, then make a and b answer the exporter",
    ],
    [
      "WebsiteDown",
      "website-down",
      "website-down: shop is down: 503 from a, MASTER, and b",
      "Since Jan 1 00:06:05 UTC. Look behind the appliances: at its servers, and at what it shares with others that are down",
    ],
    [
      "WebsiteDown",
      "at-master",
      "at-master: shop is down for visitors: 503 from a, MASTER. b finds it up",
      "Since Jan 1 00:06:05 UTC. A failover would bring it back",
    ],
    [
      "WebsitesDown",
      "one-then-all",
      "one-then-all: 3 of 3 websites are down, 503 from a, MASTER, and b: shop, blog and news",
      "Since Jan 1 00:06:05 UTC. Look for what they share: the master, its uplink, a name server, a server behind them",
    ],
    [
      "WebsiteUnknown",
      "hanging",
      "hanging: shop is not known to be up: no answer in time from a, MASTER, and b",
      "Since Jan 1 00:06:05 UTC. Try its URL: a website that hangs looks like this",
    ],
    [
      "VrrpRedundancyLost",
      "crash",
      "crash: b is MASTER of 192.0.2.100 without a backup: a does not answer in time (timeout)",
      "Since Jan 1 00:06:00 UTC. The next failure is an outage: bring the backup back. Before that: b took over 192.0.2.100 (vhid 2) from a, which stopped answering (timeout). No known master for at most 5 s",
    ],
    [
      "FailoverNotReady",
      "down-at-successor",
      "down-at-successor: If a fails, shop https is lost: 503 at b",
      "Since Jan 1 00:06:05 UTC. It can wait for the day: fix it at the member that would take over",
    ],
    [
      "ClusterDark",
      "dark",
      "dark: Neither a nor b is reached (timeout)",
      "Since Jan 1 00:06:00 UTC. Try 192.0.2.100 first: if a website answers there, only the management network is cut",
    ],
    [
      "SiteDark",
      "madrid",
      "Site madrid: none of its 10 clusters is reached",
      "Since Jan 1 00:06:05 UTC. mad-N: Neither a nor b is reached (timeout). mad-N: Neither a nor b is reached (timeout). mad-N: Neither a nor b is reached (timeout). Try a website there first: if it answers, only the way to the appliances is cut, and this can wait. Else look for power and uplinks",
    ],
    [
      "ApplianceRefused",
      "third-refuses",
      "third-refuses: c refuses the exporter's password (auth). Nobody watches it, its cluster has a MASTER",
      "Since Jan 1 00:06:00 UTC. Check the user, its permissions on the appliance, and the password",
    ],
    [
      "VrrpOddState",
      "third-odd",
      "third-odd: c reports INIT for 192.0.2.100 on carp0: it would not take over",
      "Since Jan 1 00:06:00 UTC. It would not take over: look at the interfaces of c",
    ],
    [
      "ApplianceDisabled",
      "ams",
      "ams: a is disabled in the configuration for more than a day: nobody watches it",
      "Remove `enabled: false` if it works again, or remove the appliance if it is gone",
    ],
    [
      "ApplianceCertificateExpiring",
      "certificates",
      "certificates: The certificate of a ends on 2023-11-24: polls fail then, unless it is pinned",
      "Renew it before that day: the exporter refuses it from then on",
    ],
    [
      "ApplianceExporterAbsent",
      "",
      "No exporter answers Prometheus, nobody watches the appliances",
      "Open alerts about appliances stay open, and nothing new is seen. See journalctl -u appliance-exporter -n 50 at: one:1",
    ],
    [
      "ApplianceExporterBlind",
      "",
      "Exporters of appliance-exporter reach few of their appliances, and no other exporter reaches them",
      "one:1: The exporter reaches 0 of 4 appliances: they do not answer in time (timeout). Look at their own network first.",
    ],
    [
      "ApplianceExporterReloadFailed",
      "",
      "one:1: The exporter runs on the configuration of 2023-11-14 22:13 UTC: the new one has an error",
      "Run `check` on the configuration: its errors name the places",
    ],
    [
      "ApplianceExporterStorageFailing",
      "",
      "one:1: The exporter cannot write its journal: no space left on device",
      "Polls and alerts go on, and what happens now is not remembered: look at the disk and the folder",
    ],
    [
      "AppliancePollsLate",
      "",
      "one:1: Polls of VRRP lists start late, by 2.5 s on average; the slowest appliance is a (0.3 s)",
      "States are older than they should be: look for slow appliances, and at the load of this host",
    ],
  ];

test.for(ARRIVING)("%s of %s arrives as %s", ([name, subject, summary, description]) => {
  const found = sent.find(
    ({ labels }) =>
      labels["alertname"] === name && (labels["ha_cluster"] ?? labels["site"] ?? "") === subject,
  );
  const texts = [found?.annotations["summary"], found?.annotations["description"]];
  // Any three of ten clusters.
  expect(texts.map((text) => text?.replaceAll(/\bmad-\d/g, "mad-N"))).toEqual([summary, description]);
});

test("a message about a site says whether its VIPs answer probes", () => {
  const summaries = probed.map(
    ({ labels, annotations }) => `${labels["severity"]} ${annotations["summary"]}`,
  );
  expect(summaries).toContain(
    "warning Site madrid: none of its 10 clusters is reached, but 10 of its VIPs answer probes",
  );
});

test("links lead to the URL that the exporter was given", async () => {
  const split: Course = { cluster: "ams", members: { a: [[0, "MASTER"]], b: at("BACKUP", [0, "MASTER"]) } };
  const says = await judged([...healthy(1), split], EVENT + 60);
  const exporters = [exporter("one:1", says, { externalUrl: "https://exporter.example.org/base" })];
  const expected = [alert("VrrpSplitBrain", { ha_cluster: "ams" }, 0)];
  const [text] = await textsOf({ name: "", exporters, expected, lastsSeconds: EVENT + 60 });
  const base = "https://exporter.example.org/base";
  expect(LINKS.map((link) => text?.annotations[link]?.replace(/incident=.*/, "incident=ID"))).toEqual([
    `${base}/?cluster=ams#cluster-ams`,
    `${base}/?incident=ID`,
    `${base}/runbook#split_brain`,
  ]);
});

test("names with quotes, backslashes, braces and expressions arrive as they are", async () => {
  const [cluster, member, website] = ['a"b\\c', "{{ $labels.x }}`'%q", 'x"} or up{y="<b>$1'];
  const course: Course = {
    cluster,
    members: { [member]: [[0, "MASTER"]], "other|.*": at("BACKUP", [0, "silent"]) },
    websites: { [website]: { [member]: at<number>(200, [0, 503]) } },
  };
  const says = await judged([...healthy(3), course], EVENT + 400);
  const lastsSeconds = EVENT + 400;
  const of = { ha_cluster: cluster };
  const expected = [alert("WebsiteDown", of, 45), alert("VrrpRedundancyLost", of, 185)];
  const texts = await textsOf({ name: "", exporters: [exporter("one:1", says)], expected, lastsSeconds });
  expect(texts.map(({ annotations }) => annotations["summary"])).toEqual([
    `${cluster}: ${website} is down: 503 from ${member}, MASTER; no result from other|.*: it does not answer in time (timeout)`,
    `${cluster}: ${member} is MASTER of 192.0.2.100 without a backup: other|.* does not answer in time (timeout)`,
  ]);
});

test("the last sentence about an alert stays while nobody sees the cluster", async () => {
  const troubles = TROUBLES.filter(({ course }) => course.cluster === "crash").map(({ course }) => course);
  const says = await judged([...healthy(3), ...troubles], EVENT + 700);
  const exporters = [exporter("one:1", says, { up: at<0 | 1>(1, [300, 0]) })];
  const expected = [alert("VrrpRedundancyLost", { ha_cluster: "crash" }, 600)];
  const [text] = await textsOf({ name: "", exporters, expected, lastsSeconds: EVENT + 700 });
  expect(text?.annotations["summary"]).toContain("crash: b is MASTER of 192.0.2.100 without a backup");
});
