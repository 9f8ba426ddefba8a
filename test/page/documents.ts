import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { problemsOf } from "../../src/status/problems.ts";
import type {
  ApplianceDocument,
  ClusterDocument,
  FleetDocument,
  FleetEvent,
  GroupDocument,
  PollDocument,
} from "../../src/status/schema.ts";

/** 2026-11-21T12:00:00Z: now, for all documents here. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

/** An instant so many seconds ago; a negative number is one to come. */
export function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1000).toISOString();
}

/** A poll that went well. */
export function polled(given: Partial<PollDocument> = {}): PollDocument {
  return {
    state: "succeeded",
    lastSuccessAt: ago(2),
    durationSeconds: 0.043,
    nextPollAt: ago(-3),
    ...given,
  };
}

export const TIMED_OUT: PollDocument = polled({
  state: "failed",
  reason: "timeout",
  message: "no answer within 4 s",
  failingSince: ago(190),
  lastSuccessAt: ago(195),
  durationSeconds: 4,
});

export const PENDING: PollDocument = { state: "pending", nextPollAt: ago(-1) };

type Member = GroupDocument["members"][number];
type WebsiteSpec = Readonly<Record<"id", number> & Record<"name", string>>;
type Status = NonNullable<ApplianceDocument["websites"][number]["statuses"]>[number];

const WEBSITES: readonly WebsiteSpec[] = [
  { id: 1, name: "blog" },
  { id: 2, name: "shop" },
];

/** An appliance that is well, MASTER or BACKUP of both groups. */
export function appliance(
  name: string,
  state: "MASTER" | "BACKUP",
  given: Partial<ApplianceDocument> = {},
): ApplianceDocument {
  const [priority, lastTransitionAt] = state === "MASTER" ? [204, undefined] : [154, undefined];
  return {
    name,
    labels: { site: "amsterdam" },
    poll: polled(),
    interfaces: GROUPS.map(({ vhid, vip }, index) => {
      return { name: `carp${index}`, vhid, vip, state, priority, device: `eth${index}`, lastTransitionAt };
    }),
    websites: WEBSITES.map((website) => ({
      ...website,
      poll: polled(),
      statuses: [up("http", 301), up("https", 200)],
    })),
    ...given,
  };
}

export function up(protocol: Status["protocol"], status: number): Status {
  return { protocol, status, isUp: true };
}

export function down(protocol: Status["protocol"], status: number, seconds = 190): Status {
  return { protocol, status, isUp: false, downSince: ago(seconds) };
}

const GROUPS = [
  { vhid: 1, vip: "192.0.2.100" },
  { vhid: 2, vip: "2001:db8::100" },
] as const;

export function member(name: string, role: Member["role"], priority?: number): Member {
  return { appliance: name, role, ...(priority === undefined ? {} : { priority }) };
}

/** A pair that is well: `ams-1` is MASTER, `ams-2` is BACKUP. */
export function pair(name: string, given: Partial<ClusterDocument> = {}): ClusterDocument {
  const [first, second] = [`${name}-1`, `${name}-2`];
  return {
    name,
    labels: { site: "amsterdam" },
    groups: GROUPS.map((ref) => ({
      ...ref,
      state: "one_master",
      members: [member(first, "master", 204), member(second, "backup", 154)],
      isPreferredMaster: true,
    })),
    websites: [...WEBSITES],
    appliances: [appliance(first, "MASTER"), appliance(second, "BACKUP")],
    ...given,
  };
}

/** The same with its groups and its first and its second appliance changed. */
export function changed(
  cluster: ClusterDocument,
  {
    group = {},
    first = {},
    second = {},
  }: {
    readonly group?: Partial<GroupDocument>;
    readonly first?: Partial<ApplianceDocument>;
    readonly second?: Partial<ApplianceDocument>;
  },
): ClusterDocument {
  const changes = [first, second];
  return {
    ...cluster,
    groups: cluster.groups.map((each) => ({ ...each, ...group })),
    appliances: cluster.appliances.map((each, index) => ({ ...each, ...changes[index] })),
  };
}

/** What the exporter would serve of these clusters, with the problems that they have. */
export function documentOf(
  clusters: readonly ClusterDocument[],
  given: Partial<FleetDocument> = {},
): FleetDocument {
  const problems = problemsOf(clusters, {
    nowMs: NOW_MS,
    reloadFailedAtMs: undefined,
    recalled: { vanished: [], flapping: [] },
  });
  const isWrong = problems.some(({ severity }) => severity !== "unknown");
  return {
    verdict: isWrong ? "wrong" : problems.length === 0 ? "well" : "unknown",
    exporter: { version: "1.2.3", startedAt: ago(86_400), shard: WHOLE_FLEET },
    problems: [...problems],
    clusters: [...clusters],
    events: [],
    ...given,
  };
}

/** Seen from its second appliance alone, the shop is down by HTTPS. */
export function shopDownInPart(cluster: ClusterDocument): ClusterDocument {
  return withShop(cluster, [up("https", 200)], [down("https", 503)]);
}

export function shopDown(cluster: ClusterDocument): ClusterDocument {
  return withShop(cluster, [down("https", 503)], [down("https", 0, 188)]);
}

function withShop(cluster: ClusterDocument, ...https: readonly (readonly Status[])[]): ClusterDocument {
  const appliances = cluster.appliances.map((each, index) => ({
    ...each,
    websites: each.websites.map((website) =>
      website.name === "shop"
        ? { ...website, statuses: [up("http", 301), ...(https[index] ?? [])] }
        : website,
    ),
  }));
  return { ...cluster, appliances };
}

export function splitBrain(cluster: ClusterDocument): ClusterDocument {
  const [first, second] = cluster.appliances.map(({ name }) => name);
  const { interfaces } = appliance("", "MASTER");
  const split = changed(cluster, {
    group: {
      state: "split_brain",
      members: [member(first ?? "", "master", 204), member(second ?? "", "master", 154)],
      changedAt: ago(42),
    },
    second: { interfaces },
  });
  const groups = split.groups.map(({ vhid, vip, state, members, changedAt }) => ({
    vhid,
    vip,
    state,
    members,
    changedAt,
  }));
  return { ...split, groups };
}

/** Its second appliance does not answer. */
export function secondSilent(cluster: ClusterDocument): ClusterDocument {
  const [first, second] = cluster.appliances.map(({ name }) => name);
  const blind = changed(cluster, {
    group: { members: [member(first ?? "", "master", 204), member(second ?? "", "unknown")] },
    second: { poll: TIMED_OUT, websites: WEBSITES.map((website) => ({ ...website, poll: APPLIANCE_DOWN })) },
  });
  return {
    ...blind,
    appliances: blind.appliances.map(({ interfaces, ...each }) =>
      each.poll.state === "failed" || interfaces === undefined ? each : { ...each, interfaces },
    ),
  };
}

const APPLIANCE_DOWN = polled({
  state: "failed",
  reason: "appliance_down",
  message: "not sent",
  failingSince: ago(188),
});

export const EVENTS: readonly FleetEvent[] = [
  {
    at: ago(190),
    kind: "outage",
    summary: "Website shop is down as seen from ams-2: https 200 → 503",
    cluster: "ams",
  },
  {
    at: ago(4000),
    kind: "failover",
    summary: "rtm-2 took over 192.0.2.100 (vhid 1) from rtm-1",
    cluster: "rtm",
  },
  { at: ago(9000), kind: "recovery", summary: "Polling of rtm-1 works again", cluster: "rtm" },
];

/** Pairs, of which every fiftieth is in trouble of one of four kinds; `round` lets what changes with each poll differ. */
export function fleetOfSize(appliances: number, round = 0): FleetDocument {
  const clusters = Array.from({ length: appliances / 2 }, (_, index) => {
    const name = `pair-${String(index).padStart(3, "0")}`;
    const cluster = aged(pair(name, { labels: { site: SITES[index % SITES.length] ?? "" } }), round + index);
    const trouble = index % 50 === 7 ? TROUBLES[Math.floor(index / 50) % TROUBLES.length] : undefined;
    return trouble === undefined ? cluster : trouble(cluster);
  });
  return documentOf(clusters, { events: manyEvents() });
}

const SITES = ["amsterdam", "berlin", "copenhagen", "dublin"];
const TROUBLES = [splitBrain, shopDown, secondSilent, shopDownInPart];

function aged(cluster: ClusterDocument, round: number): ClusterDocument {
  const poll = polled({ durationSeconds: 0.04 + (round % 50) / 1000, nextPollAt: ago(-(round % 7)) });
  return changed(cluster, { first: { poll }, second: { poll } });
}

function manyEvents(): FleetEvent[] {
  return Array.from({ length: 200 }, (_, index) => ({
    at: ago(60 * (index + 1)),
    kind: index % 2 === 0 ? ("recovery" as const) : ("outage" as const),
    summary: `Website shop ${index % 2 === 0 ? "is up" : "is down"} as seen from pair-${String(index).padStart(3, "0")}-1`,
    cluster: `pair-${String(index).padStart(3, "0")}`,
  }));
}
