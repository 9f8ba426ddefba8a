import { adviceOn } from "../api/advice.ts";
import type { Failure } from "../api/failure.ts";
import { keysOf } from "../../support/keys.ts";
import type { AlertName } from "./alerts.ts";

type Severity = "critical" | "warning" | "unknown";

/** All kinds of problems, worst first, each with its severity, the advice about it and how an operator learns of it, which stand only here. */
export const PROBLEMS = {
  exporter_blind: {
    severity: "critical",
    alert: "ApplianceExporterBlind",
    advice: () => "Look at this exporter's own network first: what follows is what it sees from there",
  },
  split_brain: {
    severity: "critical",
    alert: "VrrpSplitBrain",
    advice: () => "Visitors reach one of them by chance: fix the link between them, or stop VRRP on one",
  },
  no_master: {
    severity: "critical",
    alert: "VrrpNoMaster",
    advice: ({ members }) => `Visitors reach nothing there: look at the interfaces of ${members}`,
  },
  cluster_dark: {
    severity: "critical",
    alert: "ClusterDark",
    advice: ({ vips }) => `Try ${vips} first: if a website answers there, only the management network is cut`,
  },
  master_unknown: {
    severity: "critical",
    alert: "VrrpMasterUnknown",
    advice: ({ members, vips }) =>
      `Visitors may be well: try ${vips}, then make ${members} answer the exporter`,
  },
  flapping: {
    severity: "critical",
    alert: "VrrpFlapping",
    advice: ({ members }) =>
      `Visitors are cut off at each change: look at the link between ${members}, or stop VRRP on one`,
  },
  websites_down: {
    severity: "critical",
    alert: "WebsitesDown",
    advice: () => "Look for what they share: the master, its uplink, a name server, a server behind them",
  },
  websites_unknown: {
    severity: "critical",
    alert: "WebsitesDown",
    advice: () => "Try their URLs: websites that hang look like this, and so do tests that fail",
  },
  website_down: {
    severity: "critical",
    alert: "WebsiteDown",
    advice: ({ isUpElsewhere }) =>
      isUpElsewhere
        ? "A failover would bring it back"
        : "Look behind the appliances: at its servers, and at what it shares with others that are down",
  },
  website_unknown: {
    severity: "critical",
    alert: "WebsiteUnknown",
    advice: () => "Try its URL: a website that hangs looks like this",
  },
  website_backends_lost: {
    severity: "critical",
    alert: "WebsiteBackendsLost",
    advice: () => "Visitors get no answer: start its servers, or put one in service",
  },
  redundancy_lost: {
    severity: "critical",
    alert: "VrrpRedundancyLost",
    advice: () => "The next failure is an outage: bring the backup back",
  },
  not_serving: {
    severity: "critical",
    alert: "VrrpNotServing",
    advice: () => "No visitor reaches it there, and it takes nothing over: look at this interface",
  },
  polling_stuck: {
    severity: "warning",
    alert: "ApplianceExporterStuck",
    advice: ({ failure }) =>
      failure === undefined
        ? "The exporter is at fault, not the appliance: restart it, and report its log"
        : adviceOn(failure),
  },
  not_handed_over: {
    severity: "warning",
    alert: "VrrpNotHandedOver",
    advice: () => "Look whether visitors lost something, and hand over before the next work",
  },
  appliance_refused: {
    severity: "warning",
    alert: "ApplianceRefused",
    advice: ({ appliance, failure }) =>
      failure === undefined
        ? `Nobody watches it meanwhile: give it the certificate or the password that ${appliance} has now`
        : adviceOn(failure),
  },
  appliance_down: {
    severity: "warning",
    alert: "ApplianceDown",
    advice: ({ appliance, failure }) =>
      failure === undefined
        ? `It can wait while the others serve: look whether ${appliance} runs, and whether the network reaches it`
        : adviceOn(failure),
  },
  website_partially_down: {
    severity: "warning",
    alert: "WebsitePartiallyDown",
    advice: () => "Visitors are served: fix it before a failover to that member",
  },
  website_partially_unknown: {
    severity: "warning",
    alert: "WebsiteUnknown",
    advice: () => "Visitors are served by the other protocol: try its URL by this one",
  },
  website_unstable: {
    severity: "warning",
    alert: "WebsiteUnstable",
    advice: () => "Some visitors may see errors: look behind the appliances",
  },
  website_backends_lost_but_up: {
    severity: "warning",
    alert: "WebsiteBackendsLost",
    advice: () => "Something else answers visitors: start its servers, or put one in service",
  },
  website_backend_down: {
    severity: "warning",
    alert: "WebsiteBackendDown",
    advice: () => "The others serve: start it before they fail too",
  },
  failover_not_ready: {
    severity: "warning",
    alert: "FailoverNotReady",
    advice: () => "It can wait for the day: fix it at the member that would take over",
  },
  websites_unequal: {
    severity: "warning",
    alert: "WebsitesUnequal",
    advice: () => "A failover would change what visitors get: make the members equal",
  },
  websites_not_listed: {
    severity: "warning",
    alert: "WebsitesUnwatched",
    advice: () => "New websites are not tested meanwhile: look what the user of the exporter may read",
  },
  websites_left_out: {
    severity: "warning",
    noAlert: "The limit is in the configuration, whose author knows it",
    advice: () => "Choose which websites matter with include and exclude, or raise the limit",
  },
  backends_left_out: {
    severity: "warning",
    noAlert: "Nothing has to be done",
    advice: () => "Nothing has to be done: their number is known, and they are not named",
  },
  odd_state: {
    severity: "warning",
    alert: "VrrpOddState",
    advice: ({ appliance }) => `It would not take over: look at the interfaces of ${appliance}`,
  },
  preferred_master_lost: {
    severity: "warning",
    alert: "VrrpPreferredMasterLost",
    advice: () => "It can wait: the preferred appliance is a backup, look why it did not take back",
  },
  certificate_expires: {
    severity: "warning",
    alert: "ApplianceCertificateExpiring",
    advice: () => "Renew it before that day: the exporter refuses it from then on",
  },
  polls_late: {
    severity: "warning",
    alert: "AppliancePollsLate",
    advice: () =>
      "States are older than they should be: look for slow appliances, and at the load of this host",
  },
  api_anomalies: {
    severity: "warning",
    alert: "ApplianceApiAnomalies",
    advice: () => "Nothing is wrong for visitors: report the places in its log to the maker of the exporter",
  },
  reload_failed: {
    severity: "warning",
    alert: "ApplianceExporterReloadFailed",
    advice: () => "Run `check` on the configuration: its errors name the places",
  },
  storage_failing: {
    severity: "warning",
    alert: "ApplianceExporterStorageFailing",
    advice: () =>
      "Polls and alerts go on, and what happens now is not remembered: look at the disk and the folder",
  },
  link_unknown: {
    severity: "unknown",
    becomes: "VrrpMasterUnknown",
    advice: () => "Wait for the next polls: it is not known yet on which link this group is",
  },
  backup_unknown: {
    severity: "unknown",
    becomes: "VrrpRedundancyLost",
    advice: ({ members }) =>
      `Visitors are served: make each of ${members} answer the exporter, to know whether one would take over`,
  },
  master_unwatched: {
    severity: "unknown",
    alert: "VrrpMasterUnwatched",
    advice: ({ vips }) =>
      `Nobody who answers is MASTER: try ${vips}, and enable the appliance that nobody polls`,
  },
  master_changing: {
    severity: "unknown",
    becomes: "VrrpMasterUnknown",
    advice: () => "Wait some seconds: polls of the members contradict each other during a failover",
  },
  not_scheduled: {
    severity: "unknown",
    noAlert: "The schedule is in the configuration, and rests as it says",
    advice: () => "Nothing has to be done: its schedule rests",
  },
  not_polled_yet: {
    severity: "unknown",
    noAlert: "The first polls follow within a minute",
    advice: () => "Wait for the first polls",
  },
} as const satisfies Readonly<Record<string, ProblemFacts>>;

/** What the advice about a problem names, each as part of a sentence. */
export interface AdviceNames {
  /** All members of the cluster: `a and b`. */
  readonly members: string;
  /** The appliance that the problem concerns. */
  readonly appliance: string;
  /** The first VIPs of the cluster: `192.0.2.100 and 192.0.2.101`. */
  readonly vips: string;
  /** Whether another member finds the website up. */
  readonly isUpElsewhere: boolean;
  /** Why the latest poll of the appliance's VRRP list failed, if it did. */
  readonly failure?: Failure | undefined;
}

/** The names for an advice that names nothing. */
export const NO_NAMES: AdviceNames = { members: "", appliance: "", vips: "", isUpElsewhere: false };

export type ProblemFacts = {
  readonly severity: Severity;
  /** Returns what to do, in one sentence. */
  readonly advice: (names: AdviceNames) => string;
} & Told;

/** How an operator learns of a problem who does not look at the page. */
type Told =
  /** By this alert. */
  | { readonly alert: AlertName }
  /** By this alert, if more polls find that it is trouble. It is planned where that alert would be muted. */
  | { readonly becomes: AlertName }
  /** Not at all, for this reason. */
  | { readonly noAlert: string };

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
    // An outage is a problem of the group, but for one where a BACKUP takes nothing over.
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
  takes_nothing_over: "outage",
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

/** The advice about a failover that has happened. */
export const FAILOVER_ADVICE =
  "It can wait if this was intended: otherwise look at the former MASTER, before it happens again";

/** Returns the alert about a problem or an incident; `undefined` if there is none. */
export function alertOf(kind: ProblemKind | IncidentKind): AlertName | undefined {
  if (kind === "failover") return "VrrpFailover";
  const told = kind === "vrrp_state" ? undefined : PROBLEMS[kind];
  return told !== undefined && "alert" in told ? told.alert : undefined;
}

/** Returns the alert with which a problem is planned; `undefined` for a problem that never is. */
export function mutedWith(kind: ProblemKind): AlertName | undefined {
  const told = PROBLEMS[kind];
  return "becomes" in told ? told.becomes : alertOf(kind);
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
