/** The runbook's sections, by what they are about; each is named like an alert, in small letters. */
export const RUNBOOK = {
  failover: "vrrpfailover",
  splitBrain: "vrrpsplitbrain",
  noMaster: "vrrpnomaster",
  masterUnknown: "vrrpmasterunknown",
  noBackup: "vrrpnobackup",
  notPreferred: "vrrpnotpreferredmaster",
  applianceDown: "appliancedown",
  anomalies: "applianceapianomalies",
  certificate: "appliancecertificateexpiry",
  websiteDown: "websitedown",
  websiteUnknown: "websiteunknown",
  exporterDown: "exporterdown",
  reloadFailed: "exporterconfigreloadfailed",
  late: "exporterpollslate",
} as const;
