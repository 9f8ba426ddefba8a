import { recentUntilMs } from "../../exporter/story/failover-incidents.ts";
import type { FailoverFacts, Incident } from "../../exporter/story/incident.ts";
import type { Ongoing } from "../../exporter/story/incidents.ts";
import type { Memory, Remembered } from "../../exporter/judge/memory.ts";
import { PROBLEM_OF } from "../../exporter/judge/states.ts";
import { MAX_OPEN_KEYS } from "./changes.ts";
import type { Instant } from "../../support/clock.ts";
import { wording } from "../../support/text.ts";
import { instantOf } from "../../exporter/judge/words.ts";
import type { IncidentRecord } from "./record.ts";

/** Returns the incidents that are not over, and the recent failovers, which continue. `memory` is that of their cluster. */
export function ongoingFrom(records: readonly IncidentRecord[], memory: Memory, at: Instant): Ongoing {
  const all = records.map((each) =>
    withoutWaiting(incidentFrom({ ...each, open: openSubjects(each, memory) }, at), memory, at),
  );
  return {
    all: all.filter((each) => each.end === undefined || at.monotonicMs < recentUntilMs(each)),
    lastFailoverAt: all.findLast(({ failover }) => failover !== undefined)?.begin,
  };
}

/**
 * Returns an outage without the websites that were up again when the run ended, and waited for a test of the master. What that test would
 * have ended is not known over a start, so these have an end, and no length.
 */
function withoutWaiting(incident: Incident, memory: Memory, at: Instant): Incident {
  const { kind, open } = incident;
  if (kind !== "website_down") return incident;
  const subjects = [...open].flatMap((key) => {
    const remembered = memory.get(key);
    if (remembered?.sinceMs === undefined || problemOf(remembered) === kind) return [];
    const end = instantIn(at, instantOf(remembered.sinceMs));
    const over = { end, aboutMs: end.monotonicMs, reachedMs: end.monotonicMs };
    return [{ key, name: "", over }];
  });
  const over = new Set(subjects.map(({ key }) => key));
  return { ...incident, subjects, open: new Set([...open].filter((key) => !over.has(key))) };
}

/** Returns the keys of the subjects that an incident waits for; where the record names not all, those with the same trouble are the rest. */
function openSubjects({ incident, open }: IncidentRecord, memory: Memory): string[] | undefined {
  if (open === undefined || open.length < MAX_OPEN_KEYS || incident.failover !== undefined) return open;
  const alike = [...memory].filter(([, remembered]) => problemOf(remembered) === incident.kind);
  return [...new Set([...open, ...alike.map(([key]) => key)])];
}

function problemOf({ kind, state = "" }: Remembered): string | undefined {
  const problems: Readonly<Record<string, string | undefined>> = PROBLEM_OF[kind];
  return Object.hasOwn(problems, state) ? problems[state] : undefined;
}

function incidentFrom({ cluster, incident: restored, open = [] }: IncidentRecord, at: Instant): Incident {
  const { id, kind, begin: beganAt, end: endedAt } = restored;
  const [begin, end] = [instantIn(at, beganAt), endedAt === undefined ? undefined : instantIn(at, endedAt)];
  const failover = restored.failover && failoverOf(restored.failover, open, begin);
  const none = { reportedMs: begin.monotonicMs, words: wording(["", ""]), subjects: [] };
  const left = new Set(failover === undefined ? open : []);
  return {
    id,
    kind,
    cluster,
    begin,
    end,
    ...none,
    open: left,
    failover,
    isPlanned: restored.isPlanned === true,
    restored,
  };
}

/** Restores the part of a failover that continues: the groups that have no backup yet. */
function failoverOf(
  { from, to, cause, isPartial }: NonNullable<IncidentRecord["incident"]["failover"]>,
  open: readonly string[],
  { monotonicMs: seenMs }: Instant,
): FailoverFacts {
  const groups = new Map(open.map((key) => [key, seenMs]));
  const known = {
    cause,
    clause: "",
    clauseApart: "",
    evidence: [],
    letsGo: undefined,
    isFinal: true,
    groups: new Set(open),
  } as const;
  const latest = { from, to, causes: [known], seenMs, groups, isPartial, withoutMaster: undefined } as const;
  return { latest, groups: new Set(open), repeated: undefined };
}

/** Returns an earlier instant, relative to one that this process knows by both clocks; also correct if the clock was set back since. */
function instantIn(at: Instant, earlier: string): Instant {
  const wallMs = Date.parse(earlier);
  return { wallMs, monotonicMs: at.monotonicMs - Math.max(0, at.wallMs - wallMs) };
}
