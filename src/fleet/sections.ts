import { isDeepStrictEqual } from "node:util";
import type { Protocol } from "../api/website-test.ts";
import type { WebsiteConfig } from "../config/config.ts";
import { statusSetHas } from "../config/status-set.ts";
import { OPERATION_KINDS, type OperationKind } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceState, PollTotals } from "./appliance-state.ts";
import { groupsOf, type Groups, type Member } from "./groups.ts";
import {
  healthAt,
  silentSinceMs,
  type SeenVrrp,
  type SeenWebsite,
  type VrrpRecord,
  type WebsiteRecord,
} from "./record.ts";
import type {
  ApplianceSnapshot,
  ClusterSnapshot,
  Identity,
  InterfaceSnapshot,
  PollHealth,
  TotalsSnapshot,
  VrrpListSnapshot,
  VrrpSnapshot,
  WebsiteSnapshot,
} from "./snapshot.ts";
import type { SeenInterface, SeenStatus } from "./transitions.ts";

/** What is true of an appliance's VRRP interfaces at the monotonic instant `nowMs`. */
export function vrrpSection(
  identity: Identity,
  record: VrrpRecord,
  certificate: PresentedCertificate | undefined,
  nowMs: number,
): VrrpSnapshot {
  const health = healthAt(record, nowMs);
  const list = whileKnown(health, record.seen);
  return { kind: "vrrp", identity, health, list: list && listSnapshot(list), certificate };
}

/** What is true of a website, as seen from one appliance, at the monotonic instant `nowMs`. */
export function websiteSection(
  identity: Identity,
  { id, name, protocols, expectStatus }: WebsiteConfig,
  record: WebsiteRecord,
  nowMs: number,
): WebsiteSnapshot {
  const health = healthAt(record, nowMs);
  const isWanted = ({ protocol }: SeenStatus): boolean =>
    protocols === undefined || protocols.includes(protocol);
  const seen = whileKnown(health, record.seen);
  const statuses = seen?.statuses.filter(isWanted).map(({ status, ...facts }) => ({
    ...facts,
    status,
    isUp: statusSetHas(expectStatus, status),
  }));
  const unread = seen && unreadOf(seen, protocols);
  const known = [...record.results];
  return {
    kind: "website_test",
    identity,
    websiteId: id,
    website: name,
    health,
    statuses,
    unread,
    results: known.map(([protocol, { confirmed }]) => {
      return { protocol, result: health.failure?.reason === "stalled" ? "unknown" : confirmed };
    }),
    isUnconfirmed: known.some(([, { latest, confirmed }]) => latest !== confirmed),
  };
}

/** Those configured, or else ever seen, of which the latest answer has no status. */
function unreadOf({ statuses, protocols }: SeenWebsite, wanted = protocols): readonly Protocol[] {
  return wanted.filter((protocol) => statuses.every((status) => status.protocol !== protocol));
}

/** Totals of an appliance; of website tests only where it has websites. */
export function totalsSection(identity: Identity, totals: PollTotals, hasWebsites: boolean): TotalsSnapshot {
  const kinds: readonly OperationKind[] = hasWebsites ? OPERATION_KINDS : ["vrrp"];
  return {
    kind: "totals",
    identity,
    totals: kinds.map((operation) => ({ operation, ...totals[operation] })),
  };
}

/** A cluster's facts, and what the next ones can be made of. */
export interface ClusterSection {
  readonly snapshot: ClusterSnapshot;
  readonly groups: Groups | undefined;
}

/** The enabled members of a cluster. */
export interface Members {
  readonly cluster: string;
  readonly names: readonly string[];
  readonly hasDisabled: boolean;
  /** Whether it is a cluster of two or more, the disabled ones counted. */
  readonly hasGroups: boolean;
}

/** What is true of a cluster at the monotonic instant `nowMs`. Parts that are as they were `before` are the same objects. */
export function clusterSection(
  { cluster, hasDisabled, hasGroups }: Members,
  states: readonly ApplianceState[],
  appliances: readonly ApplianceSnapshot[],
  nowMs: number,
  before: ClusterSection | undefined,
): ClusterSection {
  const shared = sharedLabels(appliances.map(({ identity }) => identity.labels));
  const labels =
    before !== undefined && isDeepStrictEqual(shared, before.snapshot.labels)
      ? before.snapshot.labels
      : shared;
  const groups = hasGroups ? groupsOf(membersOf(states, nowMs), before?.groups) : undefined;
  return {
    snapshot: { cluster, labels, hasDisabled, appliances, groups: groups?.list ?? [] },
    groups,
  };
}

function membersOf(states: readonly ApplianceState[], nowMs: number): readonly Member[] {
  return states.map(({ identity, vrrp }) => ({
    appliance: identity.appliance,
    silentSinceMs: silentSinceMs(vrrp, nowMs),
    seen: vrrp.seen?.groups,
  }));
}

function sharedLabels([first = {}, ...others]: readonly Identity["labels"][]): Identity["labels"] {
  const isShared = ([name, value]: [string, string]): boolean =>
    others.every((labels) => labels[name] === value);
  return Object.fromEntries(Object.entries(first).filter(isShared));
}

/** No value outlives its poll: what was seen is true only while the latest poll succeeded. */
function whileKnown<Seen>({ state }: PollHealth, seen: Seen | undefined): Seen | undefined {
  return state === "succeeded" ? seen : undefined;
}

function listSnapshot({ interfaces, anomalies }: SeenVrrp): VrrpListSnapshot {
  return { interfaces: interfaces.filter(({ isReadable }) => isReadable).map(interfaceSnapshot), anomalies };
}

function interfaceSnapshot(seen: SeenInterface): InterfaceSnapshot {
  const { reported, firstSeenAtMs, transitions, lastTransitionAtMs } = seen;
  const { name, vhid, vip, state, priority, advskew, aliasCount, device, netmask, peer, type } = reported;
  // Written out: a thousand times at each poll, a spread costs several times as much.
  return {
    name,
    vhid,
    vip,
    state,
    isMaster: state === "MASTER",
    priority,
    advskew,
    aliasCount,
    device,
    netmask,
    peer,
    type,
    firstSeenAtMs,
    transitions,
    lastTransitionAtMs,
  };
}
