import type { OperationKind } from "../api/operations.ts";
import type { VrrpAnomaly, VrrpInterface } from "../api/vrrp.ts";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { Protocol, WebsiteStatus } from "../api/website-test.ts";
import type { PresentedCertificate } from "../client/tls.ts";
import type { Failure } from "../client/failure.ts";
import type { WebsiteConfig } from "../config/config.ts";
import { once } from "../support/kept.ts";
import type { Course, MemberRole, Polled } from "./course.ts";

/**
 * The facts about a cluster at one instant. Immutable, and the same object for as long as nothing in it has changed; so is each
 * part. How a poll went is apart from what it found, which changes less often. An appliance on its own is a cluster of one.
 *
 * In all of its parts `undefined` is what is not known now, and instants are Unix time in milliseconds unless they say
 * that they are monotonic.
 */
export interface ClusterSnapshot {
  readonly cluster: string;
  /** The configured labels that all enabled members share; if none is enabled, those that all members share. */
  readonly labels: Readonly<Record<string, string>>;
  /** The enabled ones, in the order of the configuration. */
  readonly appliances: readonly ApplianceSnapshot[];
  /** The members with `enabled: false`, in the order of the configuration. */
  readonly disabled: readonly DisabledSnapshot[];
  /** Empty unless the cluster has two appliances or more, the disabled ones counted. */
  readonly groups: readonly GroupSnapshot[];
  readonly websites: readonly ClusterWebsite[];
}

export interface ApplianceSnapshot extends OfAppliance {
  readonly vrrp: VrrpSnapshot;
  readonly websites: readonly WebsiteSnapshot[];
  readonly totals: TotalsSnapshot;
  /** `undefined` without discovery. */
  readonly discovery: DiscoverySnapshot | undefined;
  /** Its websites: those configured first, then those discovered of which something is known, tested or not. */
  readonly known: readonly KnownWebsite[];
  readonly inventory: InventorySnapshot;
  /** The results of each test: the same list while they stay as they are, however polls go. */
  readonly results: readonly WebsiteSnapshot["results"][];
  readonly anomalies: AnomaliesSnapshot;
}

/** An appliance that is configured and not polled: it may be master or backup of any group of its cluster. */
export interface DisabledSnapshot extends OfAppliance {
  readonly kind: "disabled";
}

/** How often the latest answers deviate from the API, as far as they are known. */
export interface AnomaliesSnapshot extends OfAppliance {
  readonly kind: "anomalies";
  readonly counts: Readonly<Partial<Record<VrrpAnomaly | "bad_website", number>>>;
}

export interface DiscoverySnapshot extends OfAppliance {
  readonly kind: "discovery";
  readonly list: PollHealth;
  /** The health of the details of all websites together: a failure of one is a failure; `undefined` if there are none. */
  readonly details: PollHealth | undefined;
  /** How many websites are not tested because there are more than the limit. */
  readonly beyondLimit: number;
  /** How many servers behind its websites are counted only: more than 32 of a website, or 2,000 of the appliance. */
  readonly backendsLeftOut: number;
  /** Whether the list and all details were polled, with whatever result. */
  readonly isPolled: boolean;
  /** Whether the list and all details of the first valid list were polled, except of websites that are gone from the list. */
  readonly isFirstPolled: boolean;
}

/** Holds what an appliance says of its websites: the same object while that stays as it is, however polls go. */
export interface InventorySnapshot extends OfAppliance {
  /** The websites whose details are known now. */
  readonly found: readonly FoundWebsite[];
  /** By OfWebsite.address, as far as that is known; of one whose details fail now, the latest ones. `undefined` without discovery. */
  readonly byAddress: ReadonlyMap<string, KnownWebsite> | undefined;
  /** Whether the list is known. */
  readonly isListed: boolean;
  /** Whether these are all websites of the appliance: list and details are known, and none is excluded or beyond the limit. */
  readonly isComplete: boolean;
  /** Whether each entry of the list is readable, and the details of all websites are known. */
  readonly areDetailsKnown: boolean;
  /** The ids of the websites that are listed, and excluded or beyond the limit. */
  readonly leftOut: readonly number[];
}

/** A website of an appliance, as configured, else as discovered, and how it is tested. */
export interface KnownWebsite extends OfWebsite, Omit<WebsiteConfig, "id" | "name"> {
  readonly kind: "website_details";
  /** The addresses on which the appliance listens for it, in canonical text; empty for all, and while they are not known. */
  readonly bind: readonly string[];
  /** Where visitors reach it; none while that is not known. */
  readonly urls: readonly string[];
  /** Also from an earlier poll; `undefined` before the first, and without discovery. */
  readonly details: WebsiteDetails | undefined;
  /** A website that is disabled is tested only if it is configured. */
  readonly isTested: boolean;
}

/** A website as the appliance describes it. */
export interface FoundWebsite extends KnownWebsite {
  readonly address: string;
  readonly details: WebsiteDetails;
}

/** A website of a cluster: all that its appliances know of one host and port. */
export interface ClusterWebsite {
  /** Unique in the cluster: host and port; where they are not known, its id and its appliance; without details, its id. */
  readonly key: string;
  /** Id and name, together unique: those at the first appliance that has it, tested or not. */
  readonly websiteId: number;
  readonly website: string;
  readonly at: readonly MemberWebsite[];
}

/** Where an appliance has a website of a cluster. */
export interface MemberWebsite {
  /** The place of the appliance among those of its cluster, and that of the test among its tests; -1 if it is not tested. */
  readonly member: number;
  readonly test: number;
  readonly known: KnownWebsite;
}

interface OfAppliance {
  readonly identity: Identity;
}

export interface OfWebsite extends OfAppliance {
  readonly websiteId: number;
  readonly website: string;
  /**
   * Host and port: what it is known by in its cluster; of several with the same at one appliance, those behind the first have
   * a number too. Empty while they are not known, `undefined` without details.
   */
  readonly address: string | undefined;
}

/** Holds what every series of an appliance carries; the labels are the configured ones. */
export interface Identity {
  readonly appliance: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** How the latest poll of an operation went. */
export interface PollHealth {
  /** `pending`: it was not polled yet. */
  readonly state: "pending" | "succeeded" | "failed";
  readonly failure: Failure | undefined;
  /** `undefined` before the first poll, and where nothing was sent. */
  readonly durationSeconds: number | undefined;
  /** Kept through failures. */
  readonly lastSuccessAtMs: number | undefined;
  /** When the first of the failures in a row ended; not for one that has stalled only now. */
  readonly failingSinceMs: number | undefined;
}

export interface VrrpSnapshot extends OfAppliance {
  readonly kind: "vrrp";
  readonly health: PollHealth;
  readonly found: { readonly list: VrrpListSnapshot } | undefined;
  /** The latest valid answer; kept through failures. */
  readonly polled: Polled | undefined;
  /** While the list is not known: the monotonic end of the first poll since then that the appliance did not answer at all. */
  readonly lostSinceMs: number | undefined;
  /** The beginning of that poll. */
  readonly lostSentMs: number | undefined;
  readonly certificate: PresentedCertificate | undefined;
}

export interface VrrpListSnapshot extends OfAppliance {
  readonly kind: "vrrp_list";
  readonly interfaces: readonly InterfaceSnapshot[];
  readonly anomalies: Readonly<Record<VrrpAnomaly, number>>;
}

/** An interface, and its changes since it was first seen. */
export interface InterfaceSnapshot {
  /** As decoded, with `vip` in canonical text. */
  readonly reported: VrrpInterface;
  readonly transitions: number;
  /** `undefined` before the first transition. */
  readonly lastTransitionAtMs: number | undefined;
}

export interface WebsiteSnapshot extends OfWebsite {
  readonly kind: "website_test";
  readonly health: PollHealth;
  readonly found: StatusesSnapshot | undefined;
  /** Holds what the tests found, by protocol; `undefined` before the first one, empty while no protocol is known. */
  readonly results: readonly ProtocolResult[] | undefined;
  /** The protocols by which a test found it up. */
  readonly lastUp: readonly LastUp[];
}

/** When tests last found a website up, in monotonic time. */
export interface LastUp {
  readonly protocol: Protocol;
  /** The beginning of the latest such test. */
  readonly sentMs: number;
  /**
   * The beginning of the first test after it, which did not find it up, or may hang: when it was to begin at the pace of the latest two.
   * Infinite where there was one only.
   */
  readonly doubtedMs: number;
}

export interface StatusesSnapshot extends OfWebsite {
  readonly kind: "website_statuses";
  readonly statuses: readonly StatusSnapshot[];
}

/** `unknown`: the test failed, or its answer has no status. */
export type TestResult = "up" | "down" | "unknown";

export interface ProtocolResult {
  readonly protocol: Protocol;
  readonly latest: TestResult;
  /** The result that counts. @see resultAfter */
  readonly result: TestResult;
  /** A bit for each of the last ten tests, the latest one's the lowest: whether it was `up` after a `down` that did not count. */
  readonly refutations: number;
  /** Three of these tests were; or it was so before, and one of them still was. */
  readonly isUnstable: boolean;
}

export interface StatusSnapshot extends WebsiteStatus {
  /** Whether the status is among those expected. */
  readonly isUp: boolean;
  /** Since the protocol was first seen. */
  readonly changes: number;
}

/** Polls since the appliance was configured, of the operations for which it is polled. */
export interface TotalsSnapshot extends OfAppliance {
  readonly kind: "totals";
  readonly counts: Readonly<
    Partial<Record<OperationKind, { readonly polls: number; readonly failures: number }>>
  >;
}

/**
 * A VRRP group: one VHID, and addresses that its members may list in another order. An appliance is one member, however many
 * interfaces of it are in the group.
 */
export interface GroupSnapshot {
  /** @see groupKey */
  readonly key: string;
  readonly vhid: number;
  /** The VIP of the member that is configured first. */
  readonly vip: string;
  /** Further addresses of its interfaces, as last reported, in canonical text. */
  readonly aliases: readonly string[];
  readonly members: readonly MemberSnapshot[];
  /** While a member is MASTER: others that last said MASTER of an address of the group under another VHID. */
  readonly rivals: readonly MemberSnapshot[];
  /** Appliances whose list lacks the group, and had it before. */
  readonly left: readonly Pick<MemberSnapshot, "appliance" | "course">[];
  /**
   * Members and rivals that were MASTER at the same time, by their latest answers: each said MASTER when it was polled after the
   * latest change of either was known; twice in a group that flaps. Counted from the beginning of the poll: a slow answer may
   * be older than the change. Members that are unknown now count with their latest answer.
   */
  readonly mastersAtOnce: readonly string[];
  /** Known members that were not polled since the latest change of any member was known; twice in a group that flaps. */
  readonly notPolledSince: readonly string[];
  /** Whether the one MASTER is the preferred member; `undefined` unless there is one and its preference is known. */
  readonly isPreferredMaster: boolean | undefined;
}

export interface MemberSnapshot {
  readonly appliance: string;
  /** The names of its interfaces in the group, as last reported. */
  readonly interfaces: readonly string[];
  /** The VIP and the aliases of these, as last reported, in canonical text. */
  readonly addresses: readonly string[];
  /** Whether these are all. */
  readonly areAddressesKnown: boolean;
  readonly role: MemberRole;
  /** Its highest one in the group, as last reported, also while the member is unknown. */
  readonly priority: number | undefined;
  /** Whether it is configured as FAILOVER MASTER, as last reported. */
  readonly isFailoverMaster: boolean;
  /** While its VRRP list is not known: the monotonic instant from which it is not. */
  readonly silentSinceMs: number | undefined;
  /** Empty for an appliance that was never seen. */
  readonly course: Course;
}

/** Unique within a cluster. */
export function groupKey({ vhid, vip }: Pick<GroupSnapshot, "vhid" | "vip">): string {
  return `${vhid} ${vip}`;
}

/** Names of the appliances of which something was never polled. */
export const pendingIn = once(({ appliances }: ClusterSnapshot): readonly string[] =>
  appliances
    .filter(
      ({ vrrp, websites, discovery }) =>
        [vrrp, ...websites].some(({ health }) => health.state === "pending") || discovery?.isPolled === false,
    )
    .map(({ identity }) => identity.appliance),
);

export function membersIn({ members }: Pick<GroupSnapshot, "members">, role: MemberRole): readonly string[] {
  return members.filter((member) => member.role === role).map(({ appliance }) => appliance);
}

/** The members and rivals in that role. */
export function contendersIn({ members, rivals }: GroupSnapshot, role: MemberRole): readonly string[] {
  return membersIn({ members: [...members, ...rivals] }, role);
}

export function anomalyCount(anomalies: AnomaliesSnapshot["counts"]): number {
  return Object.values(anomalies).reduce((sum, count) => sum + count, 0);
}
