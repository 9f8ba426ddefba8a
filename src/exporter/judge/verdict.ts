import type { Protocol } from "../api/website-test.ts";
import type { Instant } from "../../support/clock.ts";
import { once } from "../../support/kept.ts";
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
import type { Coverage, MaintenanceWindow, WindowElsewhere } from "../maintenance/window.ts";
import type { AlertName } from "./alerts.ts";
import type { FlappingInterface } from "./flapping.ts";
import type { Earlier, Memory } from "./memory.ts";
import type {
  ApplianceProblem,
  ApplianceState,
  BackendState,
  CertificateState,
  ClusterState,
  Effect,
  ReadinessState,
  GroupState,
  ProblemKind,
  RiskKind,
  Trouble,
  WebsiteState,
} from "./states.ts";

/**
 * The verdict on a cluster, which says what the facts about it mean. Each part is the same object for as long as it stays the same.
 * `sinceMs` is the Unix time at which the present state began; `undefined` if this process did not see the beginning.
 */
export interface ClusterVerdict {
  readonly kind: "cluster";
  readonly facts: ClusterSnapshot;
  readonly cachedInputs: CachedInputs;
  /** The state; `undefined` before any poll. */
  readonly state: ClusterState | undefined;
  /** The verdicts on appliances, by name. */
  readonly appliances: ReadonlyMap<string, ApplianceVerdict>;
  /** The verdicts on groups, by `groupKey`. */
  readonly groups: ReadonlyMap<string, GroupVerdict>;
  /** The verdicts on websites that are tested or described, by `key`. */
  readonly websites: ReadonlyMap<string, WebsiteVerdict>;
  /**
   * The verdicts on the readiness of each appliance that is MASTER of a group, by name. There is none beside a disabled member, whose priority
   * is not known.
   */
  readonly readiness: ReadonlyMap<string, ReadinessVerdict>;
  /** The verdict on interfaces that flap; `undefined` if none does. */
  readonly flapping: FlappingVerdict | undefined;
  /** The verdict on the windows of planned work; `undefined` if none covers a part of the cluster. */
  readonly planned: WindowVerdict | undefined;
}

/**
 * The inputs of states, except monotonic time and earlier verdicts. This is a cache: the same object while polls find nothing new, as most
 * do, so that nothing is judged again. That saves 27 to 68 microseconds of each such poll.
 */
export interface CachedInputs extends Omit<ClusterSnapshot, "appliances"> {
  readonly appliances: readonly CachedAppliance[];
}

/** Whether the VRRP list of every appliance of the cluster was polled. */
export function arePolled({ appliances }: CachedInputs): boolean {
  return appliances.every(({ state }) => state !== undefined);
}

/** The part of the cache about one appliance: its facts that other verdicts use, and the verdict on it. */
export interface CachedAppliance
  extends
    Pick<ApplianceSnapshot, "identity" | "inventory" | "results">,
    Pick<ApplianceVerdict, "state" | "certificate" | "problems"> {
  readonly list: VrrpListSnapshot | undefined;
  /** @see wasRead */
  readonly isRead: boolean;
  /** Whether no list was read in two polls or more, so that another poll has confirmed the failure; or polling is stuck. */
  readonly isProvenUnread: boolean;
  /** Whether its state is not known because no poll of its VRRP list is scheduled for long. */
  readonly isUnwatched: boolean;
}

/** The beginning of a state. */
interface Lasting {
  readonly sinceMs: number | undefined;
}

/** The verdict on interfaces whose state changes again and again. */
export interface FlappingVerdict extends Lasting {
  readonly interfaces: readonly FlappingInterface[];
  /** The monotonic instant at which this is over, unless an interface changes again. */
  readonly endsMs: number;
}

export interface ApplianceVerdict extends Lasting {
  readonly kind: "appliance";
  readonly identity: Identity;
  /** The state; `undefined` before the first poll. One that was down and refuses the exporter now stays down for two minutes. */
  readonly state: ApplianceState | undefined;
  /** The state of the certificate; `undefined` while no certificate is known. */
  readonly certificate: CertificateState | undefined;
  readonly problems: readonly ApplianceProblem[];
  /** The monotonic instant until which the appliance stays down although it refuses the exporter. */
  readonly heldUntilMs?: number | undefined;
}

/** The labels that all series of a cluster carry. */
type ClusterIdentity = Pick<ClusterSnapshot, "cluster" | "labels">;

export interface GroupVerdict extends ClusterIdentity, Lasting {
  readonly kind: "group";
  readonly facts: GroupSnapshot;
  /** The state; `undefined` before the members on which it depends were polled. */
  readonly state: GroupState | undefined;
  /** Whether the state lasts since an earlier trouble, although a member that answers, but not to the exporter, may be a BACKUP now. */
  readonly isLasting: boolean;
  readonly problem: ProblemKind | undefined;
  /** Whether the one master is the preferred member. An earlier report counts for a member that was not seen since the start. */
  readonly isPreferredMaster: boolean | undefined;
  /** The known masters, also of the group's addresses under another VHID; none if another one may exist. */
  readonly masters: readonly string[];
  /** The one known master. */
  readonly master: string | undefined;
  /** The Unix time at which this state began under this master. */
  readonly sinceMs: number | undefined;
  /** The master, or the latest one. */
  readonly latestMaster: string | undefined;
  /** The latest state that is trouble, until another state proves that it is over. */
  readonly trouble: Trouble | undefined;
}

/** A website of a cluster, joined by host and port: the results of its appliances' tests, and their descriptions. */
export interface WebsiteVerdict
  extends ClusterIdentity, Pick<ClusterWebsite, "key" | "websiteId" | "website" | "at"> {
  readonly kind: "website";
  /** The inputs of the verdict: the same object while nothing in it changes. */
  readonly facts: object;
  /** The results, in the order of `at`. */
  readonly results: readonly WebsiteSnapshot["results"][];
  /** The appliances' descriptions of the website; empty if it is not discovered. */
  readonly found: readonly FoundWebsite[];
  /** The appliances that are known to lack the website. */
  readonly lacking: readonly string[];
  /** The website's id at each appliance that tests it; `undefined` if all of them do, with the same id. */
  readonly ids: Readonly<Record<string, number>> | undefined;
  /** The states of its protocols; empty if no appliance tests the website. */
  readonly states: readonly ProtocolVerdict[];
  /** The state of the servers behind the website; `undefined` while that state is not known. */
  readonly backends: BackendState | undefined;
  /** `undefined` if no appliance describes the website, or each has it disabled. */
  readonly latestBackends: LatestBackends | undefined;
}

/** The latest known state of the servers behind a website, and its beginning. */
export interface LatestBackends extends Lasting {
  readonly state: BackendState | undefined;
}

/** The verdict on a website by one protocol. */
export interface ProtocolVerdict extends Lasting {
  /** The protocol; `""` while none is known. */
  readonly protocol: Protocol | "";
  /** The state; `undefined` before the first test ended, and if a disabled appliance may be the master. */
  readonly state: WebsiteState | undefined;
  /** The latest state that follows neither from another problem of the cluster nor from the order of the first tests. */
  readonly shown: WebsiteState | undefined;
}

/** The verdict on the readiness: the failover that would follow if an appliance that is MASTER of a group stopped now. */
export interface ReadinessVerdict extends Readiness, Lasting {
  readonly kind: "readiness";
  readonly identity: Identity;
}

export interface Readiness {
  readonly state: ReadinessState;
  /** The appliances that would take over a group. */
  readonly successors: readonly string[];
  /** The number of VIPs and aliases of which the appliance is MASTER; `websites` is the number of websites that it serves there. */
  readonly addresses: number;
  readonly websites: number;
  /** The risks, worst first, at most 50. */
  readonly risks: readonly Risk[];
  /** The number of risks beyond 50, and the worst of them. */
  readonly more: { readonly count: number; readonly worst: Risk } | undefined;
  /** The number of all risks whose effect decides the state. */
  readonly decisive: number;
}

/** A loss that a failover would cause, or may cause. */
export interface Risk {
  readonly risk: RiskKind;
  /** The effect of the kind; `none` if another BACKUP, with a higher priority, would take over. */
  readonly effect: Effect;
  /** A known BACKUP; empty if there is none, and if the risk is not about one of them. */
  readonly successor: string;
  /** The VIP or the alias, with its link where that tells groups apart, or the website with its protocol; `all` stands for the interfaces or websites of an appliance. */
  readonly subject: string;
  /** The key of the group or website; `#12` for a website beyond the limit, empty for `all`. */
  readonly key: string;
  /** Of a website: the protocol; `""` if all protocols are concerned. */
  readonly protocol?: Protocol | "";
}

/** An alert that a window mutes. */
export interface Muted {
  readonly alert: AlertName;
  /** The name; empty if the alert is not about a single appliance. */
  readonly appliance: string;
}

/** The verdict on the windows of planned work that cover a part of a cluster: what they mute now. */
export interface WindowVerdict extends Pick<ClusterSnapshot, "cluster" | "labels"> {
  readonly kind: "planned";
  /** The windows that have not ended, each with its coverage of the cluster. */
  readonly windows: readonly (MaintenanceWindow & Coverage)[];
  /** The muted alerts, except for those about failovers. */
  readonly muted: readonly Muted[];
  /** The keys of problems that existed when a window began and still exist: the id of the window, the alert, and the appliance. */
  readonly standing: readonly string[];
  /** The members in a window that are still MASTER, each with its number of addresses. */
  readonly masters: readonly {
    readonly appliance: string;
    readonly addresses: number;
    /** All known masters of these addresses, where there are several. */
    readonly masters: readonly string[] | undefined;
  }[];
  /** The windows on other members than each appliance whose failure is judged. */
  readonly elsewhere: readonly (WindowElsewhere & Pick<ReadinessVerdict, "identity">)[];
  /** The members in a window that fell silent while they were MASTER. */
  readonly notHandedOver: readonly string[];
  /** Whether the exporter was started in the windows, and not everything was judged before this verdict. */
  readonly isStarting: boolean;
  /** All windows that cover a part of the cluster, including those that ended in the last five minutes. */
  readonly allWindows: readonly MaintenanceWindow[];
  /** The Unix time in milliseconds of the next end of a window; infinite if all have ended. */
  readonly untilMs: number;
}

/** The verdicts on a cluster before and after its facts have changed. */
export interface VerdictPair {
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
  readonly cachedInputs: CachedInputs;
  readonly before: ClusterVerdict | undefined;
  /** Whether the VRRP list of every appliance was polled before, so that a new state began now. */
  readonly wasPolled: boolean;
  readonly at: Instant;
  /** @see Memory */
  readonly memory: Memory | undefined;
}

/** Returns the beginning of a verdict's state; `sawBeginning` says that a state that differs from the earlier one has begun now. */
export function sinceOf(
  earlier: Earlier | undefined,
  state: string | undefined,
  sawBeginning: boolean,
  { wallMs }: Instant,
): number | undefined {
  if (earlier !== undefined && earlier.state === state) return earlier.sinceMs;
  return sawBeginning ? wallMs : undefined;
}
