/** The runbook's sections, by what they are about; each is named like an alert, in small letters. */
export const RUNBOOK = {
  failover: "vrrpfailover",
  splitBrain: "vrrpsplitbrain",
  noMaster: "vrrpnomaster",
  masterUnknown: "vrrpmasterunknown",
  noBackup: "vrrpredundancylost",
  notPreferred: "vrrppreferredmasterlost",
  applianceDown: "appliancedown",
  anomalies: "applianceapianomalies",
  certificate: "appliancecertificateexpiring",
  websiteDown: "websitedown",
  websiteUnknown: "websiteunknown",
  exporterDown: "applianceexporterdown",
  reloadFailed: "applianceexporterreloadfailed",
  late: "appliancepollslate",
} as const;
