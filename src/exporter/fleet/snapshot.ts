import type { OperationKind } from "../api/operation.ts";
import type { Restraint, VrrpAnomaly, VrrpInterface } from "../api/vrrp.ts";
import type { WebsiteDetails } from "../api/website-details.ts";
import type { Protocol, UncertainStatus, WebsiteStatus } from "../api/website-test.ts";
import type { PresentedCertificate } from "../client/tls.ts";
import type { Failure } from "../api/failure.ts";
import type { WebsiteConfig } from "../config/config.ts";
import { isLinkLocal } from "../../support/address.ts";
import { once } from "../../support/kept.ts";
import type { Answers, Hearing, MemberRole, PollTimes } from "./answers.ts";

/**
 * The facts about a cluster at one instant. Immutable, and the same object for as long as nothing in it has changed; so is each part. The
 * result of a poll is apart from its health, since it changes less often. An appliance on its own is a cluster of one.
 *
 * In all parts, `undefined` means that the value is not known now. Instants are Unix time in milliseconds unless their comments say that
 * they are monotonic.
 */
export interface ClusterSnapshot {
  readonly cluster: string;
  /** The configured labels that all enabled members share; if none is enabled, the labels that all members share. */
  readonly labels: Readonly<Record<string, string>>;
  /** The enabled members, in the order of the configuration. */
  readonly appliances: readonly ApplianceSnapshot[];
  /** The members with `enabled: false`, in the order of the configuration. */
  readonly disabled: readonly DisabledSnapshot[];
  /** The groups; empty unless the cluster has two appliances or more, including disabled ones. */
  readonly groups: readonly GroupSnapshot[];
  readonly websites: readonly ClusterWebsite[];
}

export interface ApplianceSnapshot extends OfAppliance {
  readonly vrrp: VrrpSnapshot;
  readonly websites: readonly WebsiteSnapshot[];
  readonly totals: TotalsSnapshot;
  /** The discovery; `undefined` without discovery. */
  readonly discovery: DiscoverySnapshot | undefined;
  /** The appliance's websites: the configured ones first, then the discovered ones of which something is known, tested or not. */
  readonly known: readonly KnownWebsite[];
  readonly inventory: InventorySnapshot;
  /** The results of each test; the same list while the results stay the same, whatever the health of polls. */
  readonly results: readonly WebsiteSnapshot["results"][];
  readonly anomalies: AnomaliesSnapshot;
}

/** An appliance that is configured and not polled. It may be master or backup of any group of its cluster. */
export interface DisabledSnapshot extends OfAppliance {
  readonly kind: "disabled";
}

/** The numbers of deviations from the API in the latest answers, as far as they are known. */
export interface AnomaliesSnapshot extends OfAppliance {
  readonly kind: "anomalies";
  readonly counts: Readonly<Partial<Record<VrrpAnomaly | "bad_website", number>>>;
}

export interface DiscoverySnapshot extends OfAppliance {
  readonly kind: "discovery";
  readonly list: PollHealth;
  /** The joint health of the details of all websites: a failure of one is a failure; `undefined` if there are none. */
  readonly details: PollHealth | undefined;
  /** Whether a valid list was seen, and details of a website that is still listed, since the exporter was started. */
  readonly hadList: boolean;
  readonly hadDetails: boolean;
  /** The number of websites that are not tested because there are more than the limit. */
  readonly beyondLimit: number;
  /** The number of servers behind the appliance's websites that are only counted: more than 32 of a website, or 2,000 of the appliance. */
  readonly backendsLeftOut: number;
  /** Whether the list and all details were polled, with any result. */
  readonly isPolled: boolean;
  /** Whether the list and all details of the first valid list were polled, except of websites that are gone from the list. */
  readonly isFirstPolled: boolean;
}

/** The appliance's own description of its websites; the same object while the description stays the same, whatever the health of polls. */
export interface InventorySnapshot extends OfAppliance {
  /** The websites whose details are known now. */
  readonly found: readonly FoundWebsite[];
  /**
   * The websites by OfWebsite.address, as far as that is known; a website whose details fail now has its latest ones. `undefined` without
   * discovery.
   */
  readonly byAddress: ReadonlyMap<string, KnownWebsite> | undefined;
  /** Whether the list is known. */
  readonly isListed: boolean;
  /** Whether `found` has all websites of the appliance: list and details are known, and none is excluded or beyond the limit. */
  readonly isComplete: boolean;
  /** Whether each entry of the list is readable, and the details of all websites are known. */
  readonly areDetailsKnown: boolean;
  /** The ids of the listed websites that the configuration excludes, and of those beyond the limit. */
  readonly excluded: readonly number[];
  readonly beyondLimit: readonly number[];
}

/** A website of an appliance as it is configured, or else as it is discovered, and its test. */
export interface KnownWebsite extends OfWebsite, Omit<WebsiteConfig, "id" | "name"> {
  readonly kind: "website_details";
  /**
   * The addresses on which the appliance listens for the website, in canonical text; empty for all addresses, and while they are not known.
   */
  readonly bind: readonly string[];
  /** The URLs at which visitors reach the website; none while they are not known. */
  readonly urls: readonly string[];
  /** The details, also from an earlier poll; `undefined` before the first, and without discovery. */
  readonly details: WebsiteDetails | undefined;
  /** Whether the website is tested. A disabled website is tested only if it is configured. */
  readonly isTested: boolean;
}

/** A website with the appliance's own description. */
export interface FoundWebsite extends KnownWebsite {
  readonly address: string;
  readonly details: WebsiteDetails;
}

/** A website of a cluster, with its appliances' facts about one host and port. */
export interface ClusterWebsite {
  /** The key, unique in the cluster: host and port; if these are not known, its id and its appliance; without details, its id. */
  readonly key: string;
  /** The id, which is unique together with the name. Both are those at the first appliance that has the website, tested or not. */
  readonly websiteId: number;
  readonly website: string;
  readonly at: readonly MemberWebsite[];
}

/** The place of a cluster's website at an appliance. */
export interface MemberWebsite {
  /**
   * The place of the appliance among those of its cluster, and that of the test among the appliance's tests; -1 if the website is not
   * tested.
   */
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
   * The host and port, by which the website is known in its cluster. If an appliance has several websites with the same address, the later
   * ones also have a number. Empty while it is not known, `undefined` without details.
   */
  readonly address: string | undefined;
}

/** The labels of every series of an appliance; `labels` has the configured ones. */
export interface Identity {
  readonly appliance: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The result of the latest poll of an operation. */
export interface PollHealth {
  /** The state; `pending` means that the operation was not polled yet. */
  readonly state: "pending" | "succeeded" | "failed";
  readonly failure: Failure | undefined;
  /** The duration; `undefined` before the first poll, and if nothing was sent. */
  readonly durationSeconds: number | undefined;
  /** The instant of the latest success, which failures do not change. */
  readonly lastSuccessAtMs: number | undefined;
  /** The instant at which the first of the failures in a row ended; `undefined` for an operation that has stalled only now. */
  readonly failingSinceMs: number | undefined;
}

export interface VrrpSnapshot extends OfAppliance, Hearing {
  readonly kind: "vrrp";
  readonly health: PollHealth;
  readonly found: { readonly list: VrrpListSnapshot } | undefined;
  readonly certificate: PresentedCertificate | undefined;
}

export interface VrrpListSnapshot extends OfAppliance {
  readonly kind: "vrrp_list";
  readonly interfaces: readonly InterfaceSnapshot[];
  readonly anomalies: Readonly<Record<VrrpAnomaly, number>>;
  /** @see VrrpList */
  readonly demotion: number | undefined;
  readonly restraint: Restraint | undefined;
}

/** An interface, and the number of its changes since it was first seen. */
export interface InterfaceSnapshot {
  /** The decoded interface, with `vip` in canonical text. */
  readonly reported: VrrpInterface;
  readonly transitions: number;
  /** The instant of the latest transition; `undefined` before the first. */
  readonly lastTransitionAtMs: number | undefined;
  /** The monotonic instants of the latest five transitions, the latest one last. */
  readonly changesMs: readonly number[];
}

export interface WebsiteSnapshot extends OfWebsite {
  readonly kind: "website_test";
  readonly health: PollHealth;
  readonly found: StatusesSnapshot | undefined;
  /** The results of the tests, by protocol; `undefined` before the first test, empty while no protocol is known. @see isAwaited */
  readonly results: readonly ProtocolResult[] | undefined;
  /** The instants at which a test found the website up, for each protocol by which one did. */
  readonly lastUp: readonly LastUp[];
}

/** The instants at which tests last found a website up, in monotonic time. */
export interface LastUp {
  readonly protocol: Protocol;
  /** The beginning and the end of the latest tests that found the website up, oldest first; at most eight. */
  readonly tests: readonly PollTimes[];
  /** The end of the first of the latest tests in a row that found the website up; infinitely early if no test found anything else before. */
  readonly sinceMs: number;
  /**
   * The beginning of the first test after these, which did not find the website up, or may hang: the planned instant, at the pace of the
   * latest two tests. Infinite if there was only one test.
   */
  readonly doubtedMs: number;
}

export interface StatusesSnapshot extends OfWebsite {
  readonly kind: "website_statuses";
  readonly statuses: readonly StatusSnapshot[];
  /** The protocols whose status is not certain, and why. */
  readonly uncertain: readonly UncertainStatus[];
}

/** The result of a test; `unknown` if the test failed, or its answer has no status. */
export type TestResult = "up" | "down" | "unknown";

export interface ProtocolResult {
  readonly protocol: Protocol;
  readonly latest: TestResult;
  /** The result that counts. @see resultAfter */
  readonly result: TestResult;
  /**
   * A bit for each of the last ten tests, the lowest one for the latest test: whether the test was `up` after a `down` that did not count.
   */
  readonly refutations: number;
  /** The monotonic instants of the latest three times at which `down` began to count after another result, the latest one last. */
  readonly downsMs: readonly number[];
  /**
   * Whether three of these tests were refutations, or one of them was and this was already true before; or the website was down three times
   * in fifteen minutes.
   */
  readonly isUnstable: boolean;
  /** Whether the result is unknown because the schedule of the tests rests. */
  readonly isUnwatched?: true;
}

export interface StatusSnapshot extends WebsiteStatus {
  /** Whether the status is among the expected ones. */
  readonly isUp: boolean;
  /** The number of changes since the protocol was first seen. */
  readonly changes: number;
}

/** The numbers of polls since the appliance was configured, for the operations that are polled. */
export interface TotalsSnapshot extends OfAppliance {
  readonly kind: "totals";
  readonly counts: Readonly<
    Partial<Record<OperationKind, { readonly polls: number; readonly failures: number }>>
  >;
}

/**
 * A VRRP group: one VHID on one link, and addresses that its members may list in another order. An appliance is one member, even with
 * several interfaces in the group.
 */
export interface GroupSnapshot {
  /** @see groupKey */
  readonly key: string;
  readonly vhid: number;
  /** The VIP of the member that is configured first. */
  readonly vip: string;
  /** The interface of that member; empty unless the cluster has several groups of this VHID and VIP, one on each link. */
  readonly interface: string;
  /** Whether the members' interfaces are known to be on one link. If not, nobody can tell which of them back up each other. */
  readonly isOneLink: boolean;
  /** The other addresses of the group's interfaces, as last reported, in canonical text. */
  readonly aliases: readonly string[];
  readonly members: readonly MemberSnapshot[];
  /** The members that last reported MASTER for an address of the group under another VHID, while a member is MASTER. */
  readonly rivals: readonly MemberSnapshot[];
  /** The appliances whose list lacks the group, and had it before. */
  readonly left: readonly Pick<MemberSnapshot, "appliance" | "answers">[];
  /**
   * The members and rivals that were MASTER at the same time, by their latest answers. Each reported MASTER when it was polled after the
   * latest change of either was known; in a group that flaps, in two polls since then. The beginning of the poll counts, since a slow
   * answer may be older than the change. Members that are unknown now count with their latest answer.
   */
  readonly mastersAtOnce: readonly string[];
  /** The known members that were not polled since the latest change of any member was known; in a group that flaps, not twice. */
  readonly notPolledSince: readonly string[];
  /** Whether the one MASTER is the preferred member; `undefined` unless there is one and its preference is known. */
  readonly isPreferredMaster: boolean | undefined;
}

export interface MemberSnapshot {
  readonly appliance: string;
  /** The names of the member's interfaces in the group, as last reported. */
  readonly interfaces: readonly string[];
  /** The VIP and the aliases of these interfaces, as last reported, in canonical text. */
  readonly addresses: readonly string[];
  /** Whether `addresses` has all addresses. */
  readonly areAddressesKnown: boolean;
  readonly role: MemberRole;
  /** The reported state, as last readable; of several interfaces, one that has a word which nobody knows. Empty if it was never seen. */
  readonly state: string;
  /** The member's highest priority in the group, as last reported, also while the member is unknown. */
  readonly priority: number | undefined;
  /** Whether the member is configured as FAILOVER MASTER, as last reported. */
  readonly isFailoverMaster: boolean;
  /** Whether the member holds back in elections, or may, so that priorities do not show the order of the members, as last reported. */
  readonly isDemoted: boolean;
  /** Why the member takes nothing over, as last reported. */
  readonly restraint: Restraint | undefined;
  /** The monotonic instant from which the member's VRRP list is not known, while it is not. */
  readonly silentSinceMs: number | undefined;
  /** The recent answers; none for an appliance that was never seen. */
  readonly answers: Answers;
}

/** The identity of a group within its cluster. */
export interface GroupIdentity extends Pick<GroupSnapshot, "vhid" | "vip"> {
  /** @see GroupSnapshot.interface */
  readonly interface?: string | undefined;
}

/** Returns a key that is unique within a cluster. */
export function groupKey({ vhid, vip, interface: name = "" }: GroupIdentity): string {
  return name === "" ? `${vhid} ${vip}` : JSON.stringify([vhid, vip, name]);
}

/** Returns the addresses of groups, each as a text that is equal for the same host: a link-local address is another one in each group. */
export function hostsAt(
  groups: readonly (GroupIdentity & Pick<GroupSnapshot, "aliases">)[],
): ReadonlySet<string> {
  const hosts = groups.flatMap((group) =>
    [group.vip, ...group.aliases].map((address) => hostAt(group, address)),
  );
  return new Set(hosts);
}

export function hostAt(group: GroupIdentity, address: string): string {
  return isLinkLocal(address) || (group.interface ?? "") !== "" ? `${groupKey(group)} ${address}` : address;
}

/** Whether a valid VRRP list of an appliance was read since the exporter was started. */
export function wasRead({ vrrp: { polled } }: Pick<ApplianceSnapshot, "vrrp">): boolean {
  return polled !== undefined;
}

/** The names of the appliances of which something was never polled. */
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

/**
 * Returns the preferred members: the one that is configured as FAILOVER MASTER if there is exactly one, else those with the highest
 * priority. Members count with their last reports, even while unknown.
 */
export function preferredIn({ members }: Pick<GroupSnapshot, "members">): readonly string[] {
  const configured = members.filter(({ isFailoverMaster }) => isFailoverMaster);
  const highest = Math.max(...members.map(({ priority = Number.NEGATIVE_INFINITY }) => priority));
  const preferred =
    configured.length === 1 ? configured : members.filter(({ priority }) => priority === highest);
  return preferred.map(({ appliance }) => appliance);
}

/** Returns the members and rivals in this role. */
export function contendersIn({ members, rivals }: GroupSnapshot, role: MemberRole): readonly string[] {
  return membersIn({ members: [...members, ...rivals] }, role);
}

/** Returns the recent answers of an appliance about a group; none if it was never a member. */
export function answersIn({ members, left }: Pick<GroupSnapshot, "members" | "left">, name: string): Answers {
  return [...members, ...left].find(({ appliance }) => appliance === name)?.answers ?? [];
}

export function anomalyCount(anomalies: AnomaliesSnapshot["counts"]): number {
  return Object.values(anomalies).reduce((sum, count) => sum + count, 0);
}
