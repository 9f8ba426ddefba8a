import { keysOf } from "../../support/keys.ts";
import type { AlertName } from "./alerts.ts";

type Severity = "critical" | "warning" | "unknown";

/**
 * All kinds of problems, worst first, each with its severity, which stands only here. `alert` is the alert about the problem, which has the
 * same severity. A problem without an alert is planned where the problem in `mutedAs` would be; a problem with neither never is.
 */
export const PROBLEMS = {
  split_brain: { severity: "critical", alert: "VrrpSplitBrain" },
  no_master: { severity: "critical", alert: "VrrpNoMaster" },
  cluster_dark: { severity: "critical", alert: "ClusterDark" },
  master_unknown: { severity: "critical", alert: "VrrpMasterUnknown" },
  website_down: { severity: "critical", alert: "WebsiteDown" },
  website_unknown: { severity: "critical", alert: "WebsiteUnknown" },
  website_backends_lost: { severity: "critical", alert: "WebsiteBackendsLost" },
  redundancy_lost: { severity: "critical", alert: "VrrpRedundancyLost" },
  not_serving: { severity: "critical", mutedAs: "ApplianceApiAnomalies" },
  polling_stuck: { severity: "warning", alert: "ApplianceExporterStuck" },
  not_handed_over: { severity: "warning" },
  appliance_refused: { severity: "warning", alert: "ApplianceRefused" },
  appliance_down: { severity: "warning", alert: "ApplianceDown" },
  website_partially_down: { severity: "warning", alert: "WebsitePartiallyDown" },
  website_unstable: { severity: "warning", alert: "WebsiteUnstable" },
  website_backends_lost_but_up: { severity: "warning", alert: "WebsiteBackendsLost" },
  website_backend_down: { severity: "warning", alert: "WebsiteBackendDown" },
  failover_not_ready: { severity: "warning", alert: "FailoverNotReady" },
  websites_unequal: { severity: "warning", mutedAs: "WebsiteUnstable" },
  websites_not_listed: { severity: "warning", mutedAs: "ApplianceApiAnomalies" },
  websites_left_out: { severity: "warning", mutedAs: "ApplianceApiAnomalies" },
  backends_left_out: { severity: "warning", mutedAs: "ApplianceApiAnomalies" },
  odd_state: { severity: "warning", mutedAs: "ApplianceApiAnomalies" },
  preferred_master_lost: { severity: "warning", alert: "VrrpPreferredMasterLost" },
  certificate_expires: { severity: "warning", alert: "ApplianceCertificateExpiring" },
  api_anomalies: { severity: "warning", alert: "ApplianceApiAnomalies" },
  reload_failed: { severity: "warning", alert: "ApplianceExporterReloadFailed" },
  link_unknown: { severity: "unknown", mutedAs: "VrrpMasterUnknown" },
  backup_unknown: { severity: "unknown", mutedAs: "VrrpRedundancyLost" },
  master_unwatched: { severity: "unknown", mutedAs: "VrrpMasterUnknown" },
  master_changing: { severity: "unknown", mutedAs: "VrrpMasterUnknown" },
  not_scheduled: { severity: "unknown" },
  not_polled_yet: { severity: "unknown" },
} as const satisfies Readonly<Record<string, ProblemFacts>>;

export interface ProblemFacts {
  readonly severity: Severity;
  readonly alert?: AlertName;
  readonly mutedAs?: AlertName;
}

/** The kinds of problems, the worst one first. */
export const PROBLEM_KINDS = keysOf(PROBLEMS);
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** What has a state in a cluster; `readiness` is what the failure of an appliance would cost. */
export type SubjectKind = "cluster" | "appliance" | "group" | "readiness" | "website";

/** The states of each kind of subject, and the problem that each state is; `undefined` if it is none. */
export const PROBLEM_OF = {
  group: {
    one_master: undefined,
    backup_unknown: "backup_unknown",
    backup_lost: "redundancy_lost",
    no_backup: "redundancy_lost",
    split_brain: "split_brain",
    no_master: "no_master",
    unknown: "master_unknown",
    unwatched: "master_unwatched",
    changing: "master_changing",
  },
  website: {
    up: undefined,
    unstable: "website_unstable",
    partially_down: "website_partially_down",
    down_at_master: "website_down",
    down: "website_down",
    unknown: "website_unknown",
  },
  /** The states of the servers behind a website. */
  backends: {
    ok: undefined,
    some_down: "website_backend_down",
    none_usable: "website_backends_lost",
    none_usable_but_up: "website_backends_lost_but_up",
  },
  appliance: {
    up: undefined,
    down: "appliance_down",
    refused: "appliance_refused",
    unknown: "polling_stuck",
  },
  cluster: { up: undefined, degraded: undefined, dark: "cluster_dark", unknown: undefined },
  certificate: {
    valid: undefined,
    expires_soon: "certificate_expires",
    // An expired certificate makes polls fail, or it is pinned and nothing is wrong.
    expired: undefined,
  },
  /** The states of the readiness: the failover that would follow if the appliance stopped now. */
  readiness: {
    ready: undefined,
    losses: "failover_not_ready",
    // An outage is a problem of the group.
    outage: "redundancy_lost",
    unknown: undefined,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ProblemKind | undefined>>>>;

/**
 * The effects of the risks of readiness, worst first: nobody serves the VIP, visitors lose something, the effect is not known, or visitors lose
 * nothing.
 */
export const EFFECTS = ["outage", "loss", "uncertain", "none"] as const;
export type Effect = (typeof EFFECTS)[number];

/** The risks of readiness, worst first, each with its effect if it concerns an appliance that would take over. */
export const RISKS = {
  no_backup: "outage",
  backup_lost: "outage",
  website_down: "loss",
  website_missing: "loss",
  website_disabled: "loss",
  website_backends_lost: "loss",
  address_missing: "loss",
  website_less_protected: "loss",
  undecided: "uncertain",
  backup_unknown: "uncertain",
  address_unknown: "uncertain",
  website_unknown: "uncertain",
  planned_elsewhere: "none",
  same_priority: "none",
  two_preferred: "none",
  website_differs: "none",
} as const satisfies Readonly<Record<string, Effect>>;
export const RISK_KINDS = keysOf(RISKS);
export type RiskKind = (typeof RISK_KINDS)[number];

/** The kinds of a cluster's incidents: a failover, a change of an appliance that stands alone, or a problem that begins and ends. */
export const INCIDENTS = {
  failover: "warning",
  vrrp_state: "warning",
  split_brain: PROBLEMS.split_brain.severity,
  no_master: PROBLEMS.no_master.severity,
  redundancy_lost: PROBLEMS.redundancy_lost.severity,
  cluster_dark: PROBLEMS.cluster_dark.severity,
  website_down: PROBLEMS.website_down.severity,
  website_unknown: PROBLEMS.website_unknown.severity,
  website_unstable: PROBLEMS.website_unstable.severity,
  website_backends_lost: PROBLEMS.website_backends_lost.severity,
  website_backends_lost_but_up: PROBLEMS.website_backends_lost_but_up.severity,
  website_backend_down: PROBLEMS.website_backend_down.severity,
  polling_stuck: PROBLEMS.polling_stuck.severity,
  appliance_refused: PROBLEMS.appliance_refused.severity,
  appliance_down: PROBLEMS.appliance_down.severity,
  not_serving: PROBLEMS.not_serving.severity,
  odd_state: PROBLEMS.odd_state.severity,
} as const satisfies Readonly<Partial<Record<ProblemKind | "failover" | "vrrp_state", Severity>>>;
export const INCIDENT_KINDS = keysOf(INCIDENTS);
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

/** Returns the alert about a problem or an incident; `undefined` if there is none. */
export function alertOf(kind: ProblemKind | IncidentKind): AlertName | undefined {
  const problems: Readonly<Record<string, ProblemFacts | undefined>> = PROBLEMS;
  return kind === "failover" ? "VrrpFailover" : problems[kind]?.alert;
}

/** The reasons why a group has another master. The first one for which polls have evidence counts. @see causeOf */
export const CAUSES = ["fault", "silent", "priority", "preempted", "stepped_down", "unknown"] as const;
export type Cause = (typeof CAUSES)[number];

type ProblemTable = typeof PROBLEM_OF;
export type GroupState = keyof ProblemTable["group"];
/** The trouble of a group that lasts until another state proves that it is over. */
export type Trouble = Extract<GroupState, "split_brain" | "no_master" | "no_backup" | "backup_lost">;
export type WebsiteState = keyof ProblemTable["website"];
export type BackendState = keyof ProblemTable["backends"];
export type ApplianceState = keyof ProblemTable["appliance"];
export type ClusterState = keyof ProblemTable["cluster"];
export type CertificateState = keyof ProblemTable["certificate"];
export type ReadinessState = keyof ProblemTable["readiness"];

/** The problems that one appliance has. */
export type ApplianceProblem =
  | Exclude<ProblemTable["appliance"][ApplianceState], undefined>
  | "not_serving"
  | "websites_not_listed"
  | "websites_left_out"
  | "backends_left_out"
  | "odd_state"
  | "certificate_expires"
  | "api_anomalies";

/** The levels of a state. `unknown` means that the state is not known. */
export const LEVELS = ["well", "unknown", "warning", "critical"] as const;
export type Level = (typeof LEVELS)[number];

/** Returns the level of a subject with this problem, or with none. */
export function levelOf(kind: ProblemKind | undefined, isKnown = true): Level {
  if (!isKnown) return "unknown";
  return kind === undefined ? "well" : PROBLEMS[kind].severity;
}
