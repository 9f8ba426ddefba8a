import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import type {
  ApplianceDocument,
  ClusterDocument,
  ReadinessDocument,
  FleetDocument,
  IncidentDocument,
  GroupDocument,
  PollDocument,
  ProblemDocument,
} from "../../../src/exporter/document/schema.ts";
import {
  INCIDENTS,
  PROBLEM_OF,
  levelOf,
  PROBLEM_KINDS,
  PROBLEMS,
  type Level,
  type ProblemKind,
} from "../../../src/exporter/judge/states.ts";

/** 2026-11-21T12:00:00Z: now, for all documents here. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

/** The instant so many seconds ago; a negative number is in the future. */
export function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1000).toISOString();
}

/** A poll that succeeded. */
export function polled(given: Partial<PollDocument> = {}): PollDocument {
  return {
    state: "succeeded",
    level: "well",
    lastSuccessAt: ago(2),
    durationSeconds: 0.043,
    nextPollAt: ago(-3),
    ...given,
  };
}

export const TIMED_OUT: PollDocument = polled({
  state: "failed",
  level: "warning",
  reason: "timeout",
  message: "no answer within 4 s",
  failingSince: ago(190),
  lastSuccessAt: ago(195),
  durationSeconds: 4,
});

export const PENDING: PollDocument = { state: "pending", level: "unknown", nextPollAt: ago(-1) };

type Member = GroupDocument["members"][number];
type Status = NonNullable<ApplianceDocument["websites"][number]["statuses"]>[number];

type WebsiteState = ClusterDocument["websites"][number]["states"][number]["state"];

const WEBSITES = [
  { id: 1, name: "blog" },
  { id: 2, name: "shop" },
] as const;

/** A website that is up by HTTP, and in this state by HTTPS for so many seconds. */
function website(spec: (typeof WEBSITES)[number], https: WebsiteState = "up", seconds = 190) {
  const since = https === "up" ? {} : { since: ago(seconds) };
  return {
    ...spec,
    states: [
      { protocol: "http" as const, state: "up" as const, level: "well" as const },
      { protocol: "https" as const, state: https, level: levelOf(PROBLEM_OF.website[https]), ...since },
    ],
  };
}

/** An appliance that is well, MASTER or BACKUP of both groups. */
export function appliance(
  name: string,
  state: "MASTER" | "BACKUP",
  given: Partial<ApplianceDocument> = {},
): ApplianceDocument {
  const priority = state === "MASTER" ? 204 : 154;
  return {
    name,
    labels: { site: "amsterdam" },
    state: "up",
    level: "well",
    poll: polled(),
    interfaces: GROUPS.map(({ vhid, vip }, index) => {
      return { name: `carp${index}`, vhid, vip, state, level: "well", priority, device: `eth${index}` };
    }),
    websites: WEBSITES.map((spec) => ({
      ...spec,
      poll: polled(),
      statuses: [up("http", 301), up("https", 200)],
    })),
    ...given,
  };
}

export function up(protocol: Status["protocol"], status: number): Status {
  return { protocol, status, isUp: true, level: "well" };
}

export function down(
  protocol: Status["protocol"],
  status: number,
  text?: string,
  level: Level = "critical",
): Status {
  return { protocol, status, isUp: false, level, ...(text === undefined ? {} : { text }) };
}

const GROUPS = [
  { vhid: 1, vip: "192.0.2.100" },
  { vhid: 2, vip: "2001:db8::100" },
] as const;

export function member(
  name: string,
  role: Member["role"],
  priority?: number,
  level: Level = role === "unknown" ? "unknown" : "well",
): Member {
  return {
    appliance: name,
    interfaces: ["carp0"],
    role,
    level,
    ...(priority === undefined ? {} : { priority }),
  };
}

/** The same members in the group with that place. */
function inGroup(nth: number, members: readonly Member[]): Member[] {
  return members.map((each) => ({ ...each, interfaces: [`carp${nth}`] }));
}

/** What happens if the master of both groups fails. */
export function failoverTo(
  successors: readonly string[],
  given: Partial<ReadinessDocument> = {},
): ReadinessDocument {
  const { state = "ready" } = given;
  return {
    state,
    level: levelOf(PROBLEM_OF.readiness[state], state !== "unknown"),
    summary: `${successors.join()} takes over`,
    successors: [...successors],
    addresses: GROUPS.length,
    websites: WEBSITES.length,
    risks: [],
    ...given,
  };
}

/** A pair that is well: `ams-1` is MASTER, `ams-2` is BACKUP. */
export function pair(name: string, given: Partial<ClusterDocument> = {}): ClusterDocument {
  const [first, second] = [`${name}-1`, `${name}-2`];
  return {
    name,
    labels: { site: "amsterdam" },
    groups: GROUPS.map((ref, nth) => ({
      ...ref,
      state: "one_master",
      level: "well",
      master: first,
      members: inGroup(nth, [member(first, "master", 204), member(second, "backup", 154)]),
      isPreferredMaster: true,
    })),
    state: "up",
    level: "well",
    websites: WEBSITES.map((spec) => website(spec)),
    appliances: [appliance(first, "MASTER", { failover: failoverTo([second]) }), appliance(second, "BACKUP")],
    ...given,
  };
}

/** The cluster with its groups, its first and its second appliance changed. */
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

/** A document of these clusters, with one problem for the groups of each, and one for each website and appliance. */
export function documentOf(
  clusters: readonly ClusterDocument[],
  given: Partial<FleetDocument> = {},
): FleetDocument {
  const isPending = clusters.some(({ appliances }) =>
    appliances.some(({ poll }) => poll?.state === "pending"),
  );
  const found = [
    ...clusters.flatMap(problemsIn),
    ...problem(isPending ? "not_polled_yet" : undefined, "Not everything was polled yet", {}),
  ];
  const problems = found.toSorted((a, b) => PROBLEM_KINDS.indexOf(a.kind) - PROBLEM_KINDS.indexOf(b.kind));
  const isWrong = problems.some(({ severity }) => severity !== "unknown");
  return {
    verdict: isWrong ? "wrong" : problems.length === 0 ? "well" : "unknown",
    exporter: { version: "1.2.3", startedAt: ago(86_400), shard: WHOLE_FLEET },
    planned: [],
    problems,
    clusters: clusters.map((cluster) => ({ ...cluster, level: levelIn(cluster, problems) })),
    incidents: [],
    ...given,
  };
}

/** As of the worst problem of the cluster. */
function levelIn({ name, appliances }: ClusterDocument, problems: readonly ProblemDocument[]): Level {
  const worst = problems.find(({ cluster }) => cluster === name);
  const isPending = appliances.some(({ poll }) => poll?.state === "pending");
  return worst?.severity ?? (isPending ? "unknown" : "well");
}

/** A problem of that kind; none without a kind. */
function problem(
  kind: ProblemKind | undefined,
  summary: string,
  given: Omit<ProblemDocument, "kind" | "severity" | "summary">,
): readonly ProblemDocument[] {
  return kind === undefined ? [] : [{ kind, severity: PROBLEMS[kind].severity, summary, ...given }];
}

function problemsIn({
  name: cluster,
  groups,
  websites,
  appliances,
}: ClusterDocument): readonly ProblemDocument[] {
  return [
    ...groups.slice(0, 1).flatMap(({ vhid, vip, state, since }) => {
      const given = { cluster, group: { vhid, vip }, since };
      return problem(state && PROBLEM_OF.group[state], `${state} of ${vip}`, given);
    }),
    ...appliances.flatMap(({ name, state, since }) => {
      const summary = `${name} is ${state}: it does not answer in time (timeout)`;
      const kind = state === undefined || state === "disabled" ? undefined : PROBLEM_OF.appliance[state];
      return problem(kind, summary, { cluster, appliance: name, since });
    }),
    ...appliances.flatMap(({ name, failover }) => {
      if (failover?.state !== "losses") return [];
      const { summary, since } = failover;
      return problem("failover_not_ready", summary, { cluster, appliance: name, since });
    }),
    ...websites.flatMap(({ id, name, states }) =>
      states.flatMap(({ protocol, state, since }) => {
        if (state === "partially_down") return [];
        const given = { cluster, website: { id, name }, since };
        return problem(PROBLEM_OF.website[state], `Website ${name} is ${state}: ${protocol} 503`, given);
      }),
    ),
  ];
}

/** The shop is down by HTTPS, as seen from the second appliance only: a failover would lose it. */
export function shopDownInPart(cluster: ClusterDocument): ClusterDocument {
  const [first, second] = cluster.appliances.map(({ name }) => name);
  const shop = withShop(
    cluster,
    "partially_down",
    [up("https", 200)],
    [down("https", 503, undefined, "warning")],
  );
  const at = { successor: second, seenAt: ago(190) };
  const failover = failoverTo([second ?? ""], {
    state: "losses",
    since: ago(190),
    summary: `If ${first} fails, shop https is lost: 503 at ${second}`,
    leftOut: 1,
    risks: [
      {
        ...at,
        risk: "website_down",
        effect: "loss",
        level: "warning",
        subject: "shop https",
        summary: `shop https is lost: 503 at ${second}`,
      },
      {
        ...at,
        risk: "website_differs",
        effect: "none",
        level: "well",
        subject: "blog",
        summary: `blog differs at ${second} (mode detect at ${first}, mode protect at ${second})`,
      },
    ],
  });
  return changed(shop, { first: { failover } });
}

export function shopDown(cluster: ClusterDocument): ClusterDocument {
  return withShop(cluster, "down", [down("https", 503)], [down("https", 0, "connection refused")]);
}

function withShop(
  cluster: ClusterDocument,
  state: WebsiteState,
  ...https: readonly (readonly Status[])[]
): ClusterDocument {
  const appliances = cluster.appliances.map((each, index) => ({
    ...each,
    websites: each.websites.map((test) =>
      test.name === "shop" ? { ...test, statuses: [up("http", 301), ...(https[index] ?? [])] } : test,
    ),
  }));
  const websites = WEBSITES.map((spec) => website(spec, spec.name === "shop" ? state : "up"));
  return { ...cluster, appliances, websites };
}

/** What happens if one of several masters fails. */
function uncertain(name = ""): ReadinessDocument {
  const summary = `the master of ${GROUPS[0].vip} (vhid 1) is not certain, so it is not known which appliance takes over`;
  const risk = {
    risk: "undecided",
    effect: "uncertain",
    level: "unknown",
    subject: GROUPS[0].vip,
    summary,
  } as const;
  return failoverTo([], { state: "unknown", summary: `If ${name} fails, ${summary}`, risks: [risk] });
}

export function splitBrain(cluster: ClusterDocument): ClusterDocument {
  const [first, second] = cluster.appliances.map(({ name }) => name);
  const { interfaces } = appliance("", "MASTER");
  const members = [
    member(first ?? "", "master", 204, "critical"),
    member(second ?? "", "master", 154, "critical"),
  ];
  return {
    ...changed(cluster, {
      first: { failover: uncertain(first) },
      second: { interfaces, failover: uncertain(second) },
    }),
    groups: cluster.groups.map(({ vhid, vip }, nth) => {
      const ref = { vhid, vip, members: inGroup(nth, members) };
      const masters = members.map((each) => each.appliance);
      return { ...ref, state: "split_brain", level: "critical", masters, since: ago(42) };
    }),
  };
}

/** Its second appliance does not answer. */
export function secondSilent(cluster: ClusterDocument): ClusterDocument {
  const [first, second] = cluster.appliances.map(({ name }) => name);
  const failover = failoverTo([], {
    state: "outage",
    since: ago(190),
    summary: `If ${first} fails, no appliance takes over ${GROUPS[0].vip} (vhid 1): ${second} cannot be polled since 2026-11-21 11:55 UTC: it cannot be reached (connect)`,
    risks: [
      {
        risk: "backup_lost",
        effect: "outage",
        level: "critical",
        subject: GROUPS[0].vip,
        summary: `no appliance takes over ${GROUPS[0].vip} (vhid 1): ${second} cannot be polled since 2026-11-21 11:55 UTC: it cannot be reached (connect)`,
        seenAt: ago(2),
      },
    ],
  });
  return changed(
    { ...cluster, state: "degraded" },
    {
      first: { failover },
      group: {
        state: "backup_lost",
        level: "critical",
        since: ago(190),
        members: [member(first ?? "", "master", 204), member(second ?? "", "unknown")],
      },
      second: {
        state: "down",
        level: "warning",
        since: ago(190),
        poll: TIMED_OUT,
        interfaces: undefined,
        websites: WEBSITES.map((spec) => ({ ...spec, poll: APPLIANCE_DOWN })),
      },
    },
  );
}

const APPLIANCE_DOWN = polled({
  state: "failed",
  level: "unknown",
  reason: "appliance_down",
  message: "not sent",
  failingSince: ago(188),
});

/** An incident that began so many seconds ago. */
export function incident(
  id: string,
  kind: IncidentDocument["kind"],
  seconds: number,
  given: Partial<IncidentDocument> = {},
): IncidentDocument {
  return {
    id,
    kind,
    severity: INCIDENTS[kind],
    begin: ago(seconds),
    summary: `${id} happened`,
    cluster: "ams",
    subjects: ["192.0.2.100 (vhid 1)"],
    meanwhile: [],
    ...given,
  };
}

const SHOP_DOWN = incident("shop", "website_down", 190, {
  summary: "Website shop is down: https 503 from ams-1, https no HTTP response from ams-2",
  subjects: ["shop https"],
});
export const FAILED_OVER: NonNullable<IncidentDocument["failover"]> = {
  from: "rtm-1",
  to: "rtm-2",
  cause: "silent",
  evidence: [{ appliance: "rtm-1", said: "stopped answering (timeout)", at: ago(4002) }],
  withoutMasterAtMostSeconds: 4.017,
  addresses: 1,
  isPartial: false,
};
const FAILOVER = incident("failover", "failover", 4000, {
  summary:
    "rtm-2 took over 192.0.2.100 (vhid 1) from rtm-1, which stopped answering (timeout). No known master for at most 5 s",
  cluster: "rtm",
  end: ago(3700),
  failover: FAILED_OVER,
});
const SILENCE = incident("silence", "appliance_down", 4002, {
  summary: "rtm-1 is down: it does not answer in time (timeout)",
  cluster: "rtm",
  end: ago(3700),
  subjects: ["rtm-1"],
});

/** A website that is down, and a failover with what happened meanwhile. */
export const HAPPENED: readonly IncidentDocument[] = [
  SHOP_DOWN,
  { ...FAILOVER, meanwhile: [SILENCE] },
  { ...SILENCE, meanwhile: [FAILOVER] },
];

/** Pairs, of which every fiftieth has one of four problems. What changes with each poll differs by `round`. */
export function fleetOfSize(appliances: number, round = 0): FleetDocument {
  const clusters = Array.from({ length: appliances / 2 }, (_, index) => {
    const name = `pair-${String(index).padStart(3, "0")}`;
    const cluster = aged(pair(name, { labels: { site: SITES[index % SITES.length] ?? "" } }), round + index);
    const trouble = index % 50 === 7 ? TROUBLES[Math.floor(index / 50) % TROUBLES.length] : undefined;
    return trouble === undefined ? cluster : trouble(cluster);
  });
  return documentOf(clusters, { incidents: manyIncidents(200) });
}

const SITES = ["amsterdam", "berlin", "copenhagen", "dublin"];
const TROUBLES = [splitBrain, shopDown, secondSilent, shopDownInPart];

function aged(cluster: ClusterDocument, round: number): ClusterDocument {
  const poll = polled({ durationSeconds: 0.04 + (round % 50) / 1000, nextPollAt: ago(-(round % 7)) });
  return changed(cluster, { first: { poll }, second: { poll } });
}

/** Every second one is over. */
export function manyIncidents(length: number): IncidentDocument[] {
  return Array.from({ length }, (_, nth) => {
    const cluster = `pair-${String(nth).padStart(3, "0")}`;
    return incident(`down-${nth}`, "website_down", 60 * (nth + 1), {
      cluster,
      summary: `Website shop is down: https 503 from ${cluster}-1`,
      ...(nth % 2 === 0 ? {} : { end: ago(60 * nth) }),
    });
  });
}
