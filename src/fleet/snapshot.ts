import type { VrrpAnomalyKind } from "../api/vrrp-list.ts";
import type { Protocol } from "../api/website-test.ts";
import type { FailureReason } from "../client/failure.ts";
import type { OperationKind } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";

/** What is true of the fleet at one instant: the only thing that metrics, pages and JSON read. Immutable. */
export interface FleetSnapshot {
  /** The enabled appliances in the order of the configuration. */
  readonly appliances: readonly ApplianceSnapshot[];
  /** Clusters of two appliances or more, at least one of them enabled. */
  readonly clusters: readonly ClusterSnapshot[];
}

export interface ApplianceSnapshot {
  readonly identity: Identity;
  readonly vrrp: VrrpSnapshot;
  readonly websites: readonly WebsiteSnapshot[];
  readonly totals: TotalsSnapshot;
}

/** What every series of an appliance carries. */
export interface Identity {
  readonly appliance: string;
  readonly cluster: string;
  /** The configured labels. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The parts that a snapshot is made of. Each is the same object for as long as nothing in it has changed, so that what
 * is made of it can be kept beside it.
 */
export type Section = VrrpSnapshot | WebsiteSnapshot | TotalsSnapshot | ClusterSnapshot;

/** How the latest poll of an operation went. */
export interface PollHealth {
  readonly state: "never_polled" | "succeeded" | "failed";
  /** While it failed. */
  readonly failure: { readonly reason: FailureReason; readonly message: string } | undefined;
  /** `undefined` before the first poll, and where nothing was sent. */
  readonly durationSeconds: number | undefined;
  /** Unix time in milliseconds; kept through failures. */
  readonly lastSuccessAtMs: number | undefined;
  /** When the first of the failures in a row ended, Unix time in milliseconds; not for one that has stalled only now. */
  readonly failingSinceMs: number | undefined;
}

export interface VrrpSnapshot {
  readonly kind: "vrrp";
  readonly identity: Identity;
  readonly health: PollHealth;
  /** `undefined` while it is not known. */
  readonly list: VrrpListSnapshot | undefined;
  readonly certificate: PresentedCertificate | undefined;
}

export interface VrrpListSnapshot {
  readonly interfaces: readonly InterfaceSnapshot[];
  readonly anomalies: Readonly<Record<VrrpAnomalyKind, number>>;
}

export interface InterfaceSnapshot {
  readonly name: string;
  readonly vhid: number;
  /** Canonical text. */
  readonly vip: string;
  readonly state: string;
  readonly isMaster: boolean;
  readonly priority: number | undefined;
  readonly advskew: number | undefined;
  readonly aliasCount: number | undefined;
  readonly device: string;
  readonly netmask: string;
  readonly peer: string;
  readonly type: string;
  /** Unix time in milliseconds. */
  readonly firstSeenAtMs: number;
  readonly transitions: number;
  readonly lastTransitionAtMs: number | undefined;
}

export interface WebsiteSnapshot {
  readonly kind: "website_test";
  readonly identity: Identity;
  readonly websiteId: number;
  readonly website: string;
  readonly health: PollHealth;
  /** `undefined` while they are not known. */
  readonly statuses: readonly StatusSnapshot[] | undefined;
  /** Protocols that are configured, or else were seen before, and of which the latest good answer has no status. */
  readonly unread: readonly Protocol[] | undefined;
}

export interface StatusSnapshot {
  readonly protocol: Protocol;
  /** 0: the appliance got no HTTP response. */
  readonly status: number;
  /** Whether the status is among those expected. */
  readonly isUp: boolean;
  readonly changes: number;
  /** While it is down, Unix time in milliseconds. */
  readonly downSinceMs: number | undefined;
  /** Whether it was down at its first sight, and ever since. */
  readonly isDownFromStart: boolean;
}

/** Polls since the appliance was configured, by operation; those that it has. */
export interface TotalsSnapshot {
  readonly kind: "totals";
  readonly identity: Identity;
  readonly totals: readonly OperationTotals[];
}

export interface OperationTotals {
  readonly operation: OperationKind;
  readonly polls: number;
  readonly failures: number;
}

export interface ClusterSnapshot {
  readonly kind: "cluster";
  readonly cluster: string;
  /** The configured labels that all members share. */
  readonly labels: Readonly<Record<string, string>>;
  readonly groups: readonly GroupSnapshot[];
}

/** A VRRP group; an appliance is one member, however many interfaces of it are in the group. */
export interface GroupSnapshot {
  /** @see groupKey */
  readonly key: string;
  readonly vhid: number;
  readonly vip: string;
  /** In the order of the configuration. */
  readonly members: readonly MemberSnapshot[];
  /**
   * Whether the members' answers fit together: until all that are known were heard since one was last seen to become
   * MASTER or to cease to be, two may seem to be MASTER, or nobody, only because one was asked before and the other after
   * a failover. Each is heard again within its interval, or becomes unknown.
   */
  readonly isSettled: boolean;
  /** Names of the members that are known and were not heard since that change. */
  readonly notHeardSince: readonly string[];
  /**
   * How long a member that is unknown may only have missed a poll, in milliseconds: for as long as its last answer counted;
   * the longest one. 0 if none is unknown or was ever seen.
   */
  readonly missedForMs: number;
  /** Whether the one MASTER is the preferred member; `undefined` unless there is one and its preference can be told. */
  readonly isPreferredMaster: boolean | undefined;
}

export interface MemberSnapshot {
  readonly appliance: string;
  readonly role: MemberRole;
  /** Its highest one in the group, as last reported, also while the member is unknown. */
  readonly priority: number | undefined;
}

/**
 * `unknown`: its list is not known now, and it was last seen in this group or never seen at all; `other`: it is known, and
 * in a state that is neither MASTER nor BACKUP.
 */
export type MemberRole = "master" | "backup" | "other" | "unknown";

/** Tells the groups of a cluster apart. */
export function groupKey({ vhid, vip }: Pick<GroupSnapshot, "vhid" | "vip">): string {
  return `${vhid} ${vip}`;
}

/** Names of the members in that role. */
export function membersIn({ members }: GroupSnapshot, role: MemberRole): readonly string[] {
  return members.filter((member) => member.role === role).map(({ appliance }) => appliance);
}
