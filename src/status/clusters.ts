import type {
  ApplianceSnapshot,
  ClusterSnapshot,
  FleetSnapshot,
  GroupSnapshot,
  InterfaceSnapshot,
  PollHealth,
  StatusSnapshot,
} from "../fleet/snapshot.ts";
import type { Operation } from "../polling/observation.ts";
import type { GroupMemory } from "./group-history.ts";
import { groupState } from "./group-state.ts";
import type { ApplianceDocument, ClusterDocument, GroupDocument, PollDocument } from "./schema.ts";
import { instantOf } from "./words.ts";

type InterfaceDocument = NonNullable<ApplianceDocument["interfaces"]>[number];

/** What the document tells beside the snapshot. */
export interface ClusterFacts {
  /** When the operation is polled next, Unix time in milliseconds; `undefined` where that is not planned. */
  readonly nextPollAtMs: (appliance: string, operation: Operation) => number | undefined;
  /** What is remembered of the group. */
  readonly memoryOf: (cluster: string, group: GroupSnapshot) => GroupMemory | undefined;
}

/** Every cluster with its groups, appliances and websites, in the order of the configuration. */
export function clusterDocuments(snapshot: FleetSnapshot, facts: ClusterFacts): readonly ClusterDocument[] {
  const backedUp = new Map(snapshot.clusters.map((cluster) => [cluster.cluster, cluster]));
  const members = new Map<string, ApplianceSnapshot[]>();
  for (const appliance of snapshot.appliances) {
    const { cluster } = appliance.identity;
    const known = members.get(cluster);
    if (known === undefined) members.set(cluster, [appliance]);
    else known.push(appliance);
  }
  return [...members].map(([name, appliances]) => ({
    name,
    labels: { ...(backedUp.get(name)?.labels ?? appliances[0]?.identity.labels) },
    groups: groupsOf(backedUp.get(name), facts),
    websites: websitesOf(appliances),
    appliances: appliances.map((appliance) => applianceDocument(appliance, facts)),
  }));
}

function groupsOf(cluster: ClusterSnapshot | undefined, { memoryOf }: ClusterFacts): GroupDocument[] {
  if (cluster === undefined) return [];
  return cluster.groups.map((group) => groupDocument(group, memoryOf(cluster.cluster, group)));
}

function groupDocument(group: GroupSnapshot, memory: GroupMemory | undefined): GroupDocument {
  const state = groupState(group, memory?.splitBetween ?? []);
  return {
    vhid: group.vhid,
    vip: group.vip,
    state,
    members: group.members.map(({ appliance, role, priority }) => ({
      appliance,
      role,
      priority: role === "unknown" ? undefined : priority,
    })),
    notHeardSince: group.notHeardSince.length === 0 ? undefined : [...group.notHeardSince],
    isPreferredMaster: group.isPreferredMaster,
    ...timesOf(state, memory),
  };
}

function timesOf(
  state: GroupDocument["state"],
  memory: GroupMemory | undefined,
): Pick<GroupDocument, "since" | "isSinceAtLeast" | "aloneSince" | "isAloneSinceAtLeast" | "changedAt"> {
  const now = memory?.now.state === state ? memory.now : undefined;
  const alone = state === "one_master" ? memory?.alone : undefined;
  return {
    since: optionalInstant(now?.sinceMs),
    isSinceAtLeast: atLeast(now?.isSinceAtLeast),
    aloneSince: optionalInstant(alone?.sinceMs),
    isAloneSinceAtLeast: atLeast(alone?.isSinceAtLeast),
    changedAt: optionalInstant(memory?.changedAtMs),
  };
}

function websitesOf(appliances: readonly ApplianceSnapshot[]): ClusterDocument["websites"] {
  const names = new Map<number, ReadonlySet<string>>();
  for (const { websiteId, website } of appliances.flatMap(({ websites }) => websites)) {
    names.set(websiteId, new Set([...(names.get(websiteId) ?? []), website]));
  }
  return Array.from(names, ([id, all]) => ({ id, name: [...all].join(" / ") }));
}

function applianceDocument(appliance: ApplianceSnapshot, facts: ClusterFacts): ApplianceDocument {
  const { identity, vrrp, websites } = appliance;
  const next = (operation: Operation) => facts.nextPollAtMs(identity.appliance, operation);
  const notAfterSeconds = vrrp.certificate?.notAfterSeconds;
  return {
    name: identity.appliance,
    labels: identity.labels,
    poll: pollDocument(vrrp.health, next({ kind: "vrrp" })),
    certificateNotAfter: optionalInstant(notAfterSeconds && notAfterSeconds * 1000),
    anomalies: vrrp.list && Object.values(vrrp.list.anomalies).reduce((sum, count) => sum + count, 0),
    interfaces: vrrp.list && interfaceDocuments(vrrp.list.interfaces),
    websites: websites.map((website) => ({
      id: website.websiteId,
      name: website.website,
      poll: pollDocument(website.health, next({ kind: "website_test", websiteId: website.websiteId })),
      statuses: website.statuses?.map(statusDocument),
      unread: website.unread === undefined || website.unread.length === 0 ? undefined : [...website.unread],
    })),
  };
}

function pollDocument(health: PollHealth, nextPollAtMs: number | undefined): PollDocument {
  const { failure, durationSeconds } = health;
  return {
    state: health.state === "never_polled" ? "pending" : health.state,
    reason: failure?.reason,
    message: failure?.message,
    failingSince: optionalInstant(health.failingSinceMs),
    lastSuccessAt: optionalInstant(health.lastSuccessAtMs),
    durationSeconds,
    nextPollAt: optionalInstant(nextPollAtMs),
  };
}

/** By the interfaces of a snapshot, which are the same object until the next poll: a page is rendered every second. */
const knownInterfaces = new WeakMap<readonly InterfaceSnapshot[], InterfaceDocument[]>();

function interfaceDocuments(interfaces: readonly InterfaceSnapshot[]): InterfaceDocument[] {
  const known = knownInterfaces.get(interfaces) ?? interfaces.map(interfaceDocument);
  knownInterfaces.set(interfaces, known);
  return known;
}

function interfaceDocument(seen: InterfaceSnapshot): InterfaceDocument {
  const { name, vhid, vip, state, priority, device, firstSeenAtMs, lastTransitionAtMs } = seen;
  const times = {
    firstSeenAt: optionalInstant(firstSeenAtMs),
    lastTransitionAt: optionalInstant(lastTransitionAtMs),
  };
  return { name, vhid, vip, state, priority, device, ...times };
}

function statusDocument({ protocol, status, isUp, downSinceMs, isDownFromStart }: StatusSnapshot) {
  const downSince = isUp ? undefined : optionalInstant(downSinceMs);
  return { protocol, status, isUp, downSince, isDownSinceAtLeast: atLeast(!isUp && isDownFromStart) };
}

/** Nothing where it is not so: the key is left out then. */
function atLeast(isSo: boolean | undefined): true | undefined {
  return isSo === true ? true : undefined;
}

/** The year 10000: RFC 3339 ends before it. */
const END_OF_TIME_MS = Date.UTC(10_000, 0);

/** Nothing for what no date can tell: an appliance may present any certificate. */
function optionalInstant(atMs: number | undefined): string | undefined {
  return atMs === undefined || !(atMs >= 0 && atMs < END_OF_TIME_MS) ? undefined : instantOf(atMs);
}
