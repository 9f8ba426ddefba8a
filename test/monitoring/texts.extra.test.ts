import { expect, test } from "vitest";
import { ALERTS } from "./alert-rules.ts";
import { textsOf } from "./rule-tests.ts";
import { SCENARIOS } from "./scenarios.ts";

const sent = (await Promise.all(SCENARIOS.map(textsOf))).flat();

function textOf(alert: string, cluster: string): readonly string[] {
  return sent
    .filter(({ labels }) => labels["alertname"] === alert && labels["ha_cluster"] === cluster)
    .map(({ annotations: { summary, description, page } }) => `${summary}. ${description} ${page}`);
}

const SUBJECTS = ["appliance", "ha_cluster", "website", "site", "instance", "shard"];

test("every alert names what it is about, and no template in it is broken", () => {
  expect(new Set(sent.map(({ labels }) => labels["alertname"]))).toEqual(
    new Set(ALERTS.map(({ alert }) => alert)),
  );
  const faults = sent.flatMap(({ labels, annotations: { summary = "", description = "", page = "" } }) => {
    const text = `${summary} ${description} ${page}`;
    const isOfCluster = labels["ha_cluster"] !== undefined;
    const unnamed = SUBJECTS.filter((label) => !(label === "site" && isOfCluster)).filter(
      (label) => !text.includes(labels[label] ?? ""),
    );
    const isBroken = /<no value>|<error|%!|\{\{|NaN|\[\]/.test(text) || / {2}\S| [.,;:]/.test(description);
    return unnamed.length > 0 || isBroken ? [`${labels["alertname"]} ${unnamed.join()}: ${text}`] : [];
  });
  expect(faults).toEqual([]);
});

test("the texts have what somebody needs to know first", () => {
  expect(textOf("VrrpFailover", "crash")).toEqual([
    "Failover: b took over 2 VIPs of cluster crash. 192.0.2.100 192.0.2.101 moved to b. The others now: a is down; no backup is left. http://one:1/ ",
  ]);
  expect(textOf("VrrpRedundancyLost", "crash")).toEqual([
    "No backup is left for 2 VIPs of cluster crash. The next failure is an outage. Appliances: a is down (connect); b is up; since 1970-01-01 00:06:00 +0000 UTC. http://one:1/ ",
  ]);
  expect(textOf("VrrpSplitBrain", "split")).toEqual([
    "Split brain in cluster split: two masters of 2 VIPs. a is MASTER on 1 interfaces; b is MASTER on 1 interfaces; VIPs with two masters: 192.0.2.100 192.0.2.101, since 1970-01-01 00:06:00 +0000 UTC. They do not hear each other's advertisements. Fix the link between them, or stop VRRP on one. http://one:1/ ",
  ]);
  expect(textOf("WebsiteDown", "website-down")).toEqual([
    "Website shop (cluster website-down) is down. https down since 1970-01-01 00:06:00 +0000 UTC, status 503 from a; 0 is no HTTP response. The exporter's page shows what the appliances said. http://one:1/ ",
  ]);
  expect(textOf("WebsiteDown", "other-ids")).toEqual([
    expect.stringContaining(
      "https down at master since 1970-01-01 00:06:00 +0000 UTC, status 200 from a; 503 from b; a failover would bring it back; 0 is",
    ),
  ]);
  expect(textOf("WebsiteBackendsLost", "backends-lost")).toEqual([
    expect.stringMatching(
      /at most eight:( 192\.0\.2\.1:80\d \(active\) at a;){8} the exporter's page shows more/,
    ),
  ]);
  expect(textOf("ApplianceDown", "one-of-three")).toEqual([
    "Appliance c of cluster one-of-three is down. No exporter has a valid answer from it since 1970-01-01 00:06:00 +0000 UTC; reason: connect. Poll it: appliance-exporter poll c --config.file=/etc/appliance-exporter/config.yaml http://one:1/ ",
  ]);
});
