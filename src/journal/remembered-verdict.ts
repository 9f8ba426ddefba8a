import { groupKey } from "../fleet/snapshot.ts";
import { recentUntilMs } from "../status/failover-incidents.ts";
import type { ClusterIncidents, Failover, Incident } from "../status/incident.ts";
import { PROBLEM_OF } from "../status/states.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  FailoverVerdict,
  GroupVerdict,
  ProtocolVerdict,
  WebsiteVerdict,
} from "../status/verdict.ts";
import type { Instant } from "../support/clock.ts";
import { groupBy } from "../support/group-by.ts";
import { keysOf } from "../support/keys.ts";
import type { IncidentRecord, SubjectRecord } from "./record.ts";

/**
 * A state that is the same after at most this time counts as one lasting state, since no poll since then found another. No state lasts if
 * time went back.
 */
const SAME_MS = 3_600_000;
const { split_brain, no_master, no_backup } = PROBLEM_OF.group;
const TROUBLES = { split_brain, no_master, no_backup };

/** The latest record of a subject, which holds until a Unix time in milliseconds. */
export interface Known {
  readonly record: SubjectRecord;
  readonly untilMs: number;
}

/** A subject as it is remembered at a start. Its state lasts since `sinceMs`, if it may still last. */
type Said = SubjectRecord & { readonly sinceMs: number | undefined };
type SaidOf<Kind> = Extract<Said, { readonly kind: Kind }>;

/** Returns a verdict with what is remembered of a cluster at the start of the exporter; all other parts are empty. */
export function verdictFrom(cluster: string, known: readonly Known[], at: Instant): ClusterVerdict {
  const of = { cluster, labels: {} };
  const nothing = { ...of, appliances: [], disabled: [], groups: [], websites: [] };
  const said = known.map(({ record, untilMs }): Said => {
    const { since } = record;
    const awayMs = at.wallMs - untilMs;
    const isRecent = since !== undefined && awayMs >= 0 && awayMs <= SAME_MS;
    return { ...record, sinceMs: isRecent ? Date.parse(since) : undefined };
  });
  const websites = groupBy(ofKind(said, "website"), ({ address }) => address);
  return {
    kind: "cluster",
    facts: nothing,
    basis: nothing,
    state: stateIn(PROBLEM_OF.cluster, ofKind(said, "cluster")[0]?.state),
    appliances: new Map(ofKind(said, "appliance").map((each) => [each.appliance, applianceFrom(each)])),
    groups: new Map(ofKind(said, "group").map((each) => [groupKey(each), groupFrom(each)])),
    websites: new Map(Array.from(websites, ([key, all]) => [key, websiteFrom(key, all)])),
    failovers: new Map(ofKind(said, "readiness").flatMap(failoverFrom)),
    planned: undefined,
  };
}

function ofKind<Kind extends Said["kind"]>(all: readonly Said[], kind: Kind): readonly SaidOf<Kind>[] {
  return all.filter((each): each is SaidOf<Kind> => each.kind === kind);
}

/** Returns a state that this version knows. */
function stateIn<State extends string>(
  states: Readonly<Record<State, unknown>>,
  state: string | undefined,
): State | undefined {
  return keysOf(states).find((each) => each === state);
}

function identityOf({ cluster, appliance }: SaidOf<"appliance" | "readiness">) {
  return { appliance, cluster, labels: {} };
}

function applianceFrom(said: SaidOf<"appliance">): ApplianceVerdict {
  const state = stateIn(PROBLEM_OF.appliance, said.state);
  const none = { certificate: undefined, problems: [], isRemembered: true } as const;
  return { kind: "appliance", identity: identityOf(said), state, sinceMs: said.sinceMs, ...none };
}

function groupFrom(said: SaidOf<"group">): GroupVerdict {
  const {
    cluster,
    vhid,
    vip,
    interface: name = "",
    sinceMs,
    master,
    latestMaster = master,
    isPreferredMaster,
  } = said;
  const lists = { aliases: [], members: [], rivals: [], left: [], mastersAtOnce: [], notPolledSince: [] };
  const identity = { key: groupKey(said), vhid, vip, interface: name };
  const facts = { ...identity, isOneLink: true, ...lists, isPreferredMaster };
  const known = { sinceMs, master, latestMaster, isPreferredMaster };
  const [state, trouble] = [
    stateIn(PROBLEM_OF.group, said.state),
    stateIn(TROUBLES, said.trouble ?? said.state),
  ];
  const named = { kind: "group", cluster, labels: {}, facts, problem: undefined } as const;
  return { ...named, state, trouble, ...known, isRemembered: true };
}

function websiteFrom(key: string, all: readonly SaidOf<"website">[]): WebsiteVerdict {
  const [{ cluster, id, name } = { cluster: "", id: 0, name: "" }] = all;
  const states = all.map(({ protocol, state, shown = state, sinceMs }): ProtocolVerdict => {
    const [now, last] = [stateIn(PROBLEM_OF.website, state), stateIn(PROBLEM_OF.website, shown)];
    return { protocol, state: now, shown: last, sinceMs, isRemembered: true };
  });
  const named = { kind: "website", cluster, labels: {}, key, websiteId: id, website: name } as const;
  const none = {
    facts: {},
    at: [],
    results: [],
    found: [],
    lacking: [],
    ids: undefined,
    backends: undefined,
  };
  return { ...named, ...none, states };
}

function failoverFrom(said: SaidOf<"readiness">): readonly (readonly [string, FailoverVerdict])[] {
  const { appliance, sinceMs } = said;
  const state = stateIn(PROBLEM_OF.failover, said.state);
  if (state === undefined) return [];
  const none = { successors: [], addresses: 0, websites: 0, risks: [], more: undefined, decisive: 0 };
  const known = { identity: identityOf(said), state, sinceMs, isRemembered: true } as const;
  return [[appliance, { kind: "failover", ...known, ...none }]];
}

/** Returns the incidents that are not over, and the recent failovers, which continue. */
export function incidentsFrom(
  cluster: string,
  records: readonly IncidentRecord[],
  at: Instant,
): ClusterIncidents {
  const incidents = records.map((each) => incidentFrom(each, at));
  const recent = incidents.filter((each) => at.monotonicMs < recentUntilMs(each));
  const failovers = incidents.filter(({ failover }) => failover !== undefined);
  return {
    kind: "incidents",
    cluster,
    labels: {},
    all: incidents.filter((each) => each.end === undefined || recent.includes(each)),
    news: [],
    recent,
    undecided: [],
    failovers: undefined,
    lastFailoverAt: failovers.at(-1)?.begin,
    muted: [],
    untilMs: Math.min(...recent.map(recentUntilMs)),
  };
}

function incidentFrom({ cluster, incident: restored, open = [] }: IncidentRecord, at: Instant): Incident {
  const { id, kind, begin: beganAt, end: endedAt } = restored;
  const [begin, end] = [instantIn(at, beganAt), endedAt === undefined ? undefined : instantIn(at, endedAt)];
  const failover = restored.failover && failoverOf(restored.failover, open, begin);
  const none = { toldMs: begin.monotonicMs, words: ["", ""], subjects: [] } as const;
  const left = new Set(failover === undefined ? open : []);
  return { id, kind, cluster, begin, end, ...none, open: left, failover, restored };
}

/** Restores the part of a failover that continues: the groups that have no backup yet. */
function failoverOf(
  { from, to, cause, addresses, isPartial }: NonNullable<IncidentRecord["incident"]["failover"]>,
  open: readonly string[],
  { monotonicMs: seenMs }: Instant,
): Failover {
  const groups = new Map(open.map((key) => [key, seenMs]));
  const none = { clause: "", evidence: [], letsGo: undefined, withoutMaster: undefined };
  const latest = { from, to, cause, seenMs, groups, ...none };
  return { latest, groups: new Set(open), addresses, isPartial, repeated: undefined };
}

/** Returns an earlier instant, relative to one that this process knows by both clocks; also correct if the clock was set back since. */
function instantIn(at: Instant, earlier: string): Instant {
  const wallMs = Date.parse(earlier);
  return { wallMs, monotonicMs: at.monotonicMs - Math.max(0, at.wallMs - wallMs) };
}
