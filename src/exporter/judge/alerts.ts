/**
 * The ways in which windows of planned work mute an alert: `never`; with `cluster`, in a window of the whole cluster; with `member`, also
 * in the window of a member, as far as the alert follows from that member; with `failovers`, if the failovers that happened follow from the
 * window.
 */
type MutedBy = "never" | "cluster" | "member" | "failovers";

/** All alerts of monitoring/prometheus. SiteDark does not count appliances whose ApplianceDown is muted. */
export const ALERTS = {
  ApplianceExporterWatchdog: "never",
  ApplianceExporterAbsent: "never",
  ApplianceExporterBlind: "never",
  ApplianceExporterDown: "never",
  ApplianceExporterShardMissing: "never",
  ApplianceExporterStuck: "never",
  ApplianceExporterReloadFailed: "never",
  ApplianceExporterStorageFailing: "never",
  AppliancePollsLate: "never",
  SiteDark: "never",
  ClusterDark: "cluster",
  VrrpSplitBrain: "never",
  VrrpMastersDisputed: "never",
  VrrpNoMaster: "cluster",
  VrrpMasterUnknown: "member",
  VrrpMasterUnwatched: "cluster",
  VrrpNotServing: "member",
  VrrpFlapping: "member",
  VrrpFailover: "failovers",
  VrrpRedundancyLost: "member",
  FailoverNotReady: "member",
  VrrpOddState: "member",
  VrrpNotHandedOver: "never",
  VrrpPreferredMasterLost: "member",
  ApplianceDown: "member",
  ApplianceRefused: "member",
  ApplianceDisabled: "never",
  ApplianceCertificateExpiring: "cluster",
  ApplianceApiAnomalies: "member",
  WebsitesDown: "cluster",
  WebsiteDown: "cluster",
  WebsiteUnknown: "cluster",
  WebsitePartiallyDown: "member",
  WebsiteUnstable: "cluster",
  WebsitesUnequal: "cluster",
  WebsitesUnwatched: "member",
  WebsiteBackendsLost: "cluster",
  WebsiteBackendDown: "member",
} as const satisfies Readonly<Record<string, MutedBy>>;
export type AlertName = keyof typeof ALERTS;

/**
 * These alerts are about one appliance of a cluster each, their label `appliance`. All others are about the cluster, or a website of it.
 */
export const ABOUT_APPLIANCES = [
  "VrrpNotServing",
  "VrrpFailover",
  "VrrpOddState",
  "VrrpNotHandedOver",
  "FailoverNotReady",
  "ApplianceDown",
  "ApplianceRefused",
  "ApplianceDisabled",
  "ApplianceCertificateExpiring",
  "ApplianceApiAnomalies",
  "WebsitesUnwatched",
] as const satisfies readonly AlertName[];
