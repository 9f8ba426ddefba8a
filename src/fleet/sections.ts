import { isDeepStrictEqual } from "node:util";
import type { Protocol } from "../api/website-test.ts";
import type { WebsiteConfig } from "../config/config.ts";
import { statusSetHas } from "../config/status-set.ts";
import { OPERATION_KINDS, type OperationKind } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import type { ApplianceState, PollTotals } from "./appliance-state.ts";
import { groupsOf, type Groups } from "./groups.ts";
import { healthAt, type SeenVrrp, type SeenWebsite, type VrrpRecord, type WebsiteRecord } from "./record.ts";
import type {
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
  return { kind: "website_test", identity, websiteId: id, website: name, health, statuses, unread };
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

/** The section of a cluster, and what the next one can be made of. */
export interface ClusterSection {
  readonly section: ClusterSnapshot;
  readonly groups: Groups;
}

/**
 * The VRRP groups of a cluster, and the configured labels that all of its members share. What is as it was `before` is the
 * same object, the section itself included.
 */
export function clusterSection(
  cluster: string,
  members: readonly ApplianceState[],
  nowMs: number,
  before?: ClusterSection,
): ClusterSection {
  const labels = sharedLabels(members.map(({ identity }) => identity.labels));
  // What is kept beside a group holds the labels too.
  const known = isDeepStrictEqual(labels, before?.section.labels) ? before : undefined;
  const groups = groupsOf(
    members.map(({ identity, vrrp }) => ({
      appliance: identity.appliance,
      isKnown: healthAt(vrrp, nowMs).state === "succeeded",
      reports: vrrp.seen?.reports,
      learnedAtMs: vrrp.seen?.learnedAtMs,
      countsForMs: vrrp.seen?.countsForMs,
      masteryChangedAtMs: vrrp.seen?.masteryChangedAtMs,
    })),
    known?.groups,
  );
  const list = [...groups.byKey.values()];
  const isSame =
    known?.section.groups.length === list.length &&
    list.every((group, index) => group === known.section.groups[index]);
  return { section: isSame ? known.section : { kind: "cluster", cluster, labels, groups: list }, groups };
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
