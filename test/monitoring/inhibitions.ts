type Labels = Readonly<Record<string, string>>;

/** Alerts that fire together, in the order in which Alertmanager hears of them. */
export interface Outage {
  readonly name: string;
  /** Those that somebody is told of. */
  readonly told: readonly Labels[];
  /** Those that follow from them. */
  readonly silenced: readonly Labels[];
  /** Those that do not follow from them, and are told as well. */
  readonly besides: readonly Labels[];
}

const AMS = { ha_cluster: "ams", site: "amsterdam" };
const UTR = { ha_cluster: "utr", site: "utrecht" };
const NOWHERE = { ha_cluster: "lab" };
const WAF_1 = { ...AMS, appliance: "waf-1" };
const WAF_2 = { ...AMS, appliance: "waf-2" };
const GROUP = { ...AMS, vhid: "2", vip: "192.0.2.100" };
const OTHER_GROUP = { ...AMS, vhid: "3", vip: "192.0.2.101" };
const SHOP = { ...AMS, website_id: "1", website: "shop" };
const BLOG = { ...AMS, website_id: "2", website: "blog" };
const HTTPS = { protocol: "https" };
const HTTP = { protocol: "http" };

/** What every alert of ours has. */
const OURS = { component: "appliance-exporter" };

function alert(alertname: string, ...labels: readonly Labels[]): Labels {
  return Object.assign({ alertname, ...OURS }, ...labels);
}

/** What follows from what, and what does not though it looks alike: above all where both lack a label. */
export const OUTAGES: readonly Outage[] = [
  {
    name: "no exporter answers: what was told of the fleet last, and that its targets are down",
    told: [alert("ApplianceExporterAbsent")],
    silenced: [
      alert("ApplianceExporterDown"),
      alert("ApplianceDown", WAF_1),
      alert("SiteDark", { site: "amsterdam" }),
      alert("VrrpSplitBrain", GROUP),
      alert("WebsiteDown", SHOP, HTTPS),
    ],
    besides: [{ alertname: "NodeDown" }, { alertname: "ClusterHealthRed" }],
  },
  {
    name: "no exporter reaches most of the fleet: sites and clusters that are dark, and what is in them",
    told: [alert("ApplianceExporterIsolated", { exporters: "all" })],
    silenced: [
      alert("SiteDark", { site: "amsterdam" }),
      alert("ClusterDark", AMS),
      alert("ApplianceDown", WAF_1),
      alert("ApplianceUnstable", WAF_1),
      alert("VrrpMasterUnknown", GROUP),
    ],
    besides: [
      alert("VrrpMasterUnknown", UTR, { vhid: "2", vip: "192.0.2.102" }),
      alert("VrrpSplitBrain", UTR, { vhid: "2" }),
      alert("WebsiteDown", UTR, HTTPS),
    ],
  },
  {
    name: "an exporter is cut off, another is not: nothing follows",
    told: [alert("ApplianceExporterIsolated", { exporters: "some" })],
    silenced: [],
    besides: [alert("ApplianceDown", WAF_1)],
  },
  {
    name: "an exporter is down: what only that one watched is missing",
    told: [alert("ApplianceExporterDown")],
    silenced: [alert("ApplianceMissing", WAF_1)],
    besides: [alert("ApplianceDown", WAF_1)],
  },
  {
    name: "a shard is missing: the appliances that only that one watched are missing",
    told: [alert("ApplianceExporterShardMissing", { job: "appliance-exporter" })],
    silenced: [alert("ApplianceMissing", WAF_1)],
    besides: [alert("ApplianceDown", WAF_1)],
  },
  {
    name: "a site is dark: its clusters, appliances and websites",
    told: [alert("SiteDark"), alert("SiteDark", { site: "amsterdam" })],
    silenced: [
      alert("ClusterDark", AMS),
      alert("ApplianceDown", WAF_1),
      alert("ApplianceMissing", WAF_1),
      alert("ApplianceCertificateExpired", WAF_1),
      alert("VrrpMasterUnknown", GROUP),
      alert("WebsiteUnknown", SHOP),
    ],
    besides: [
      alert("ApplianceDown", UTR, { appliance: "waf-3" }),
      alert("ApplianceDown", NOWHERE, { appliance: "waf-lab" }),
      alert("ApplianceExporterDown"),
    ],
  },
  {
    name: "a cluster is dark: its appliances, groups and websites",
    told: [alert("ClusterDark"), alert("ClusterDark", AMS)],
    silenced: [
      alert("ApplianceDown", WAF_1),
      alert("ApplianceUnstable", WAF_2),
      alert("VrrpMasterUnknown", GROUP),
      alert("WebsiteDown", SHOP, HTTPS),
    ],
    besides: [alert("ApplianceDown", UTR, { appliance: "waf-1" }), alert("WebsiteDown", { website_id: "1" })],
  },
  {
    name: "an appliance is dead: what is said of its own websites, and that nobody would take over",
    told: [
      alert("ApplianceDown"),
      alert("ApplianceDown", { appliance: "waf-9" }),
      alert("ApplianceDown", WAF_1),
    ],
    silenced: [
      alert("WebsiteDownFromOneAppliance", SHOP, HTTPS, { appliance: "waf-1" }),
      alert("WebsiteTestFailing", SHOP, { appliance: "waf-1" }),
      alert("ApplianceApiAnomalies", WAF_1, { anomaly: "bad_field" }),
      alert("ApplianceCertificateExpired", WAF_1),
      alert("ApplianceUnstable", WAF_1),
      alert("VrrpRedundancyLost", GROUP),
    ],
    besides: [
      alert("VrrpPreferredMasterLost", GROUP),
      alert("WebsiteDownFromOneAppliance", BLOG, HTTPS, { appliance: "waf-2" }),
      alert("WebsiteDown", SHOP, HTTPS),
      alert("WebsiteUnknown", { appliance: "waf-9" }),
      alert("VrrpFailover", GROUP, { appliance: "waf-2" }),
      alert("VrrpRedundancyLost", { vhid: "2" }),
      alert("ApplianceCertificateExpiring", WAF_1),
    ],
  },
  {
    name: "an appliance refuses the credentials: that nobody known would take over",
    told: [alert("ApplianceCredentialsRefused"), alert("ApplianceCredentialsRefused", WAF_1)],
    silenced: [alert("VrrpRedundancyLost", GROUP)],
    besides: [alert("VrrpMasterUnknown", GROUP), alert("VrrpRedundancyLost", UTR, { vhid: "2" })],
  },
  {
    name: "a master is unknown: the appliance that does not answer, and lesser things of the group",
    told: [alert("VrrpMasterUnknown"), alert("VrrpMasterUnknown", GROUP)],
    silenced: [alert("ApplianceDown", WAF_1), alert("VrrpRedundancyLost", GROUP)],
    besides: [alert("ApplianceDown", UTR, { appliance: "waf-3" }), alert("VrrpFailover", OTHER_GROUP)],
  },
  {
    name: "nobody is master: that the preferred one is not",
    told: [alert("VrrpNoMaster"), alert("VrrpNoMaster", GROUP)],
    silenced: [alert("VrrpPreferredMasterLost", GROUP), alert("VrrpRedundancyLost", GROUP)],
    besides: [alert("VrrpPreferredMasterLost", OTHER_GROUP), alert("VrrpPreferredMasterLost")],
  },
  {
    name: "a split brain: lesser things of the same group",
    told: [alert("VrrpSplitBrain"), alert("VrrpSplitBrain", GROUP)],
    silenced: [alert("VrrpRedundancyLost", GROUP)],
    besides: [alert("VrrpRedundancyLost", OTHER_GROUP), alert("VrrpFailover", GROUP, { appliance: "waf-1" })],
  },
  {
    name: "flapping: the failovers that it is made of",
    told: [alert("VrrpFlapping"), alert("VrrpFlapping", GROUP)],
    silenced: [
      alert("VrrpFailover", GROUP, { appliance: "waf-1" }),
      alert("VrrpFailover", GROUP, { appliance: "waf-2" }),
      alert("VrrpPreferredMasterLost", GROUP),
    ],
    besides: [
      alert("VrrpFailover", OTHER_GROUP, { appliance: "waf-1" }),
      alert("VrrpFailover", { appliance: "waf-1" }),
      alert("VrrpSplitBrain", GROUP),
    ],
  },
  {
    name: "a website is down: what else is said of it",
    told: [alert("WebsiteDown"), alert("WebsiteDown", SHOP, HTTPS)],
    silenced: [
      alert("WebsiteServerError", SHOP, HTTPS),
      alert("WebsiteNoHttpResponse", SHOP, HTTPS),
      alert("WebsiteStatusChanged", SHOP, HTTPS, { status: "503" }),
      alert("WebsiteDownFromOneAppliance", SHOP, HTTPS, { appliance: "waf-1" }),
      alert("WebsiteTestFailing", SHOP, { appliance: "waf-1" }),
      alert("WebsiteUnstable", SHOP),
    ],
    besides: [
      alert("WebsiteServerError", SHOP, HTTP),
      alert("WebsiteServerError", BLOG, HTTPS),
      alert("WebsiteTestFailing", BLOG, { appliance: "waf-1" }),
      alert("WebsiteUnknown", UTR, { website_id: "1" }),
      alert("WebsiteServerError"),
      alert("WebsiteTestFailing"),
    ],
  },
  {
    name: "nobody can tell of a website: that its tests fail",
    told: [alert("WebsiteUnknown"), alert("WebsiteUnknown", SHOP)],
    silenced: [alert("WebsiteTestFailing", SHOP, { appliance: "waf-1" }), alert("WebsiteUnstable", SHOP)],
    besides: [alert("WebsiteTestFailing", BLOG, { appliance: "waf-1" }), alert("WebsiteUnstable")],
  },
  {
    name: "a website is down as seen from one appliance: the same in other words",
    told: [
      alert("WebsiteDownFromOneAppliance", { appliance: "waf-1" }),
      alert("WebsiteDownFromOneAppliance", SHOP, HTTPS, { appliance: "waf-1" }),
    ],
    silenced: [
      alert("WebsiteServerError", SHOP, HTTPS),
      alert("WebsiteStatusChanged", SHOP, HTTPS, { status: "0" }),
    ],
    besides: [alert("WebsiteServerError", SHOP, HTTP), alert("WebsiteStatusChanged", { status: "0" })],
  },
];

/** The same alert of another team, without our label. */
export function foreign(ours: Labels): Labels {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => name !== "component"));
}
