import { expect, test } from "vitest";
import { ALL_GROUPS } from "./alert-rules.ts";
import { PROBED } from "./probe-scenario.ts";
import { textsOf } from "./rule-tests.ts";

test("texts say whether VIPs answer probes, and one alert says which do not", async () => {
  const sent = await textsOf(PROBED, ALL_GROUPS);
  const texts = sent.map(({ labels, annotations: { summary, description, runbook_url: url, page } }) => {
    return `${labels["alertname"]}: ${summary}. ${description} ${url} ${page}`;
  });
  expect(texts.toSorted()).toEqual([
    "ProbedVipsDown: VIPs of cluster cut answer no probe, whatever the appliances say: 2. At most eight: 192.0.2.100; 192.0.2.101; seen: 192.0.2.100 unknown; 192.0.2.101 unknown; VIPs that answer no probe: 2; a: it cannot be reached (connect); unknown VIPs: 2; http://one:1/runbook#probedvipsdown http://one:1/?cluster=cut#cluster-cut",
    "ProbedWebsiteDown: Website shop (cluster fenced) fails from Prometheus's side. HTTP status, 0 for none: 200 of https://192.0.2.100/; 200 of https://192.0.2.101/; 403 of https://shop.example.org/; http://one:1/runbook#probedwebsitedown http://one:1/?cluster=fenced#cluster-fenced",
    "SiteDark: Site amsterdam is dark: none of its 2 appliances is reached. Look for power and uplinks. Seen: VIPs that answer probes: 2; connect at appliances: 2; http://one:1/runbook#sitedark http://one:1/?label=site%3Damsterdam",
    "VrrpMasterUnknown: The master of cluster cut is not known, VIPs that perhaps nobody serves: 2. Try these. Seen: 192.0.2.100 unknown; 192.0.2.101 unknown; VIPs that answer no probe: 2; a: it cannot be reached (connect); unknown VIPs: 2; http://one:1/runbook#vrrpmasterunknown http://one:1/?cluster=cut#cluster-cut",
    "VrrpMasterUnknown: The master of cluster lost is not known, VIPs that perhaps nobody serves: 2. Try these. Seen: 192.0.2.100 unknown; 192.0.2.101 unknown; VIPs that answer probes: 2; a: it cannot be reached (connect); b: it cannot be reached (connect); unknown VIPs: 2; http://one:1/runbook#vrrpmasterunknown http://one:1/?cluster=lost#cluster-lost",
  ]);
});
