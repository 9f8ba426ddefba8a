import { recentUntilMs } from "../status/failover-incidents.ts";
import type { ClusterIncidents, Failover, Incident } from "../status/incident.ts";
import type { Instant } from "../support/clock.ts";
import type { IncidentRecord } from "./record.ts";

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
