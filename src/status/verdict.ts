import type { Protocol } from "../api/website-test.ts";
import type { Instant } from "../support/clock.ts";
import { once } from "../support/kept.ts";
import type {
  ApplianceSnapshot,
  ClusterSnapshot,
  ClusterWebsite,
  FoundWebsite,
  GroupSnapshot,
  Identity,
  VrrpListSnapshot,
  WebsiteSnapshot,
} from "../fleet/snapshot.ts";
import type { Coverage, MaintenanceWindow } from "../maintenance/window.ts";
import type { ClusterIncidents } from "./incident.ts";
import type { AlertName } from "./alerts.ts";
import type {
  ApplianceProblem,
  ApplianceState,
  BackendState,
  CertificateState,
  ClusterState,
  Effect,
  FailoverState,
  GroupState,
  ProblemKind,
  RiskKind,
  Trouble,
  WebsiteState,
} from "./states.ts";

/**
 * The meaning of the facts about a cluster. Each verdict is the same object for as long as it stays as it is. `sinceMs`: Unix
 * time at which the present state began; `undefined` where this process did not see the beginning.
 */
export interface ClusterVerdict {
  readonly kind: "cluster";
  readonly facts: ClusterSnapshot;
  readonly basis: Basis;
  /** `undefined` before any poll. */
  readonly state: ClusterState | undefined;
  /** The key is the name. */
  readonly appliances: ReadonlyMap<string, ApplianceVerdict>;
  /** The key is `groupKey`. */
  readonly groups: ReadonlyMap<string, GroupVerdict>;
  /** Holds the websites that are tested or described, by `key`. */
  readonly websites: ReadonlyMap<string, WebsiteVerdict>;
  /** Holds one for each appliance that is MASTER of a group, by name; none beside a disabled member, whose priority is not known. */
  readonly failovers: ReadonlyMap<string, FailoverVerdict>;
  readonly incidents: ClusterIncidents;
  /** `undefined` while nothing of the cluster is worked on. */
  readonly planned: Planned | undefined;
}

/** All that states follow from, except monotonic time and earlier verdicts. The same object while polls find nothing new, as most do. */
export interface Basis extends Omit<ClusterSnapshot, "appliances"> {
  readonly appliances: readonly ApplianceBasis[];
}

/** Whether the VRRP list of every appliance of the cluster was polled. */
export function arePolled({ appliances }: Basis): boolean {
  return appliances.every(({ state }) => state !== undefined);
}

/** Holds what one appliance reports, and what is judged from it. */
export interface ApplianceBasis
  extends
    Pick<ApplianceSnapshot, "identity" | "inventory" | "results">,
    Pick<ApplianceVerdict, "state" | "certificate" | "problems"> {
  readonly list: VrrpListSnapshot | undefined;
}

/** When a state began. */
interface Lasting {
  readonly sinceMs: number | undefined;
  /** An earlier run of the exporter has judged it, and this one did not yet. */
  readonly isRemembered?: true;
}

export interface ApplianceVerdict extends Lasting {
  readonly kind: "appliance";
  readonly identity: Identity;
  /** `undefined` before the first poll. */
  readonly state: ApplianceState | undefined;
  /** `undefined` while no certificate is known. */
  readonly certificate: CertificateState | undefined;
  readonly problems: readonly ApplianceProblem[];
}

/** All series of a cluster carry these. */
type ClusterIdentity = Pick<ClusterSnapshot, "cluster" | "labels">;

export interface GroupVerdict extends ClusterIdentity, Lasting {
  readonly kind: "group";
  readonly facts: GroupSnapshot;
  /** `undefined` before the members on which it depends were polled. */
  readonly state: GroupState | undefined;
  readonly problem: ProblemKind | undefined;
  /** Whether the one master is the preferred member, also by what a member that was not seen since the start said before. */
  readonly isPreferredMaster: boolean | undefined;
  /** The one known master. */
  readonly master: string | undefined;
  /** When this state began under this master. */
  readonly sinceMs: number | undefined;
  /** The master, or the latest one. */
  readonly latestMaster: string | undefined;
  /** The latest state that is trouble, until another one proves that it is over. */
  readonly trouble: Trouble | undefined;
}

/** A website of a cluster, joined by host and port: what the tests of its appliances find, and what they say of it. */
export interface WebsiteVerdict
  extends ClusterIdentity, Pick<ClusterWebsite, "key" | "websiteId" | "website" | "at"> {
  readonly kind: "website";
  /** The verdict follows from it: the same objects while nothing in them changes. */
  readonly facts: object;
  /** In the order of `at`. */
  readonly results: readonly WebsiteSnapshot["results"][];
  /** Holds what appliances say of it; empty where it is not discovered. */
  readonly found: readonly FoundWebsite[];
  /** The appliances that are known to lack it. */
  readonly lacking: readonly string[];
  /** Its id at each appliance that tests it; `undefined` where all of them do, with the same id. */
  readonly ids: Readonly<Record<string, number>> | undefined;
  /** Empty if no appliance tests it. */
  readonly states: readonly ProtocolVerdict[];
  /** The state of the servers behind it; `undefined` while it is not known. */
  readonly backends: BackendState | undefined;
}

/** A website by one protocol. */
export interface ProtocolVerdict extends Lasting {
  /** `""` while none is known. */
  readonly protocol: Protocol | "";
  /** `undefined` before the first test ended, and where a disabled appliance may be the master. */
  readonly state: WebsiteState | undefined;
  /** The latest state that follows neither from another problem of the cluster nor from the order of the first tests. */
  readonly shown: WebsiteState | undefined;
}

/** Says what would happen if an appliance that is MASTER of a group stopped now. */
export interface FailoverVerdict extends Outlook, Lasting {
  readonly kind: "failover";
  readonly identity: Identity;
}

export interface Outlook {
  readonly state: FailoverState;
  /** These would take over a group. */
  readonly successors: readonly string[];
  /** How many VIPs and aliases the appliance is MASTER of, and how many websites it serves at these to visitors. */
  readonly addresses: number;
  readonly websites: number;
  /** Worst first, at most 50. */
  readonly risks: readonly Risk[];
  /** The worst one of those beyond 50, and their number. */
  readonly more: { readonly count: number; readonly worst: Risk } | undefined;
  /** How many risks, of all, have the effect that decides the state. */
  readonly decisive: number;
}

/** Something that would go wrong at a failover, or may. */
export interface Risk {
  readonly risk: RiskKind;
  /** The effect of the kind; `none` where another BACKUP, with a higher priority, would take over. */
  readonly effect: Effect;
  /** A known BACKUP; empty where there is none, and where the risk is not about one of them. */
  readonly successor: string;
  /** A VIP, an alias, or a website and its protocol; `all`: the interfaces or websites of an appliance. */
  readonly subject: string;
  /** The key of the group or website; empty for `all`. */
  readonly key: string;
}

/** Says what planned work means for a cluster now. */
export interface Planned extends Pick<ClusterSnapshot, "cluster" | "labels"> {
  readonly kind: "planned";
  /** The windows that have not ended, and what each covers of the cluster. */
  readonly windows: readonly (MaintenanceWindow & Coverage)[];
  /** `appliance`: empty where the alert is not about a single one. */
  readonly muted: readonly { readonly alert: AlertName; readonly appliance: string }[];
  /** By the id of a window and what would be muted: what was wrong when it began, and still is. */
  readonly standing: readonly string[];
  /** Members that are worked on and still MASTER, and of how many addresses. */
  readonly masters: readonly { readonly appliance: string; readonly addresses: number }[];
  /** Members that are worked on and fell silent while they were MASTER. */
  readonly notHandedOver: readonly string[];
  /** All windows from which this follows, with those that ended in the last five minutes. */
  readonly given: readonly MaintenanceWindow[];
  /** The Unix time in milliseconds of the next end; infinite if all have ended. */
  readonly untilMs: number;
}

/** A cluster before and after the facts about it have changed. */
export interface Judged {
  readonly before: ClusterVerdict | undefined;
  readonly now: ClusterVerdict;
}

/** Returns whether unknown websites of the cluster follow from appliances that do not answer or a master that is not known. */
export function hidesWebsites({ state, groups }: Pick<ClusterVerdict, "state" | "groups">): boolean {
  return state === "dark" || state === "unknown" || isMasterMissing(groups);
}

const isMasterMissing = once((groups: ClusterVerdict["groups"]) =>
  [...groups.values()].some(({ master, state }) => master === undefined && state !== "split_brain"),
);

export interface Case {
  readonly basis: Basis;
  readonly before: ClusterVerdict | undefined;
  /** Whether the VRRP list of every appliance was polled before: a state that is new now began now. */
  readonly wasPolled: boolean;
  readonly at: Instant;
  /**
   * `before` has what an earlier run of the exporter knew of subjects that this one had not judged; `last`: everything was polled, or
   * an hour has passed. `undefined` where it has not.
   */
  readonly restoring: "more" | "last" | undefined;
}

/** When the state of a verdict began; `sawBeginning`: whether one that differs from before has begun now. */
export function sinceOf<State>(
  before: (Lasting & { readonly state: State }) | undefined,
  state: State,
  sawBeginning: boolean,
  { wallMs }: Instant,
): number | undefined {
  if (before !== undefined && before.state === state) return before.sinceMs;
  return sawBeginning && before?.isRemembered !== true ? wallMs : undefined;
}
