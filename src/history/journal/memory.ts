import { groupKey } from "../../exporter/fleet/snapshot.ts";
import type { Memory, Remembered } from "../../exporter/judge/memory.ts";
import { PROBLEM_OF } from "../../exporter/judge/states.ts";
import { subjectKeys } from "../../exporter/judge/subjects.ts";
import type { Instant } from "../../support/clock.ts";
import { keysOf } from "../../support/keys.ts";
import type { IncidentRecord, SubjectRecord } from "./record.ts";

/**
 * A state that is the same after at most this time counts as one lasting state, since no poll since then found another. No state lasts if
 * time went back.
 */
const SAME_MS = 3_600_000;
/** The exporter may see that a member is down this long before it sees the failover. */
const DOWN_BEFORE_MS = 60_000;
const { split_brain, no_master, no_backup, backup_lost } = PROBLEM_OF.group;
const TROUBLES = { split_brain, no_master, no_backup, backup_lost };

/** The latest record of a subject, which holds until a Unix time in milliseconds. */
export interface LatestRecord {
  readonly record: SubjectRecord;
  readonly untilMs: number;
}

/** Returns what is remembered of a cluster at a start. `incidents` are those of the cluster. */
export function memoryOf(
  known: readonly LatestRecord[],
  incidents: readonly IncidentRecord[],
  at: Instant,
): Memory {
  const subjects = known.map(({ record, untilMs }) => {
    const parts = { kind: record.kind, sinceMs: sinceIn(record.since, untilMs, at), ...partsOf(record) };
    return [
      keyOf(record),
      isLostMaster(record, incidents) ? { ...parts, isLostMaster: true } : parts,
    ] as const;
  });
  const untilMs = Math.max(...known.map((each) => each.untilMs));
  return new Map([...subjects, ...incidents.flatMap((each) => serversOf(each, untilMs, at))]);
}

/** Returns since when a state lasts that was known until a Unix time; `undefined` if that was too long ago. */
function sinceIn(since: string | undefined, untilMs: number, at: Instant): number | undefined {
  const awayMs = at.wallMs - untilMs;
  return since !== undefined && awayMs >= 0 && awayMs <= SAME_MS ? Date.parse(since) : undefined;
}

/** Returns the servers behind websites that are in trouble by an incident; the journal has no other records of them. */
function serversOf(
  { incident: { kind, begin }, open = [] }: IncidentRecord,
  untilMs: number,
  at: Instant,
): readonly (readonly [string, Remembered])[] {
  const state = keysOf(PROBLEM_OF.backends).find((each) => PROBLEM_OF.backends[each] === kind);
  if (state === undefined) return [];
  const sinceMs = sinceIn(begin, untilMs, at);
  return open.map((key) => {
    const servers = { website: key.slice(subjectKeys.backends("").length), latest: { state, sinceMs } };
    return [key, { kind: "backends", state, sinceMs, servers }];
  });
}

/** Whether an appliance is down since it fell silent as MASTER. */
function isLostMaster(record: SubjectRecord, incidents: readonly IncidentRecord[]): boolean {
  if (record.kind !== "appliance" || record.state !== "down" || record.since === undefined) return false;
  const fromMs = Date.parse(record.since) - DOWN_BEFORE_MS;
  return incidents.some(({ incident: { begin, failover } }) => {
    const isSilent = failover?.from === record.appliance && failover.cause === "silent";
    // An incident of several failovers begins with the first, and the rest is about the latest.
    const { count = 1, periodSeconds = 0 } = failover?.repeated ?? {};
    return isSilent && Date.parse(begin) + (count - 1) * periodSeconds * 1000 >= fromMs;
  });
}

/** Returns the key of a subject. @see subjectKeys */
function keyOf(record: SubjectRecord): string {
  const { kind } = record;
  switch (kind) {
    case "cluster":
      return subjectKeys.cluster;
    case "appliance":
      return subjectKeys.appliance(record.appliance);
    case "readiness":
      return subjectKeys.readiness(record.appliance);
    case "group":
      return subjectKeys.group(groupKey(record));
    case "website":
      return subjectKeys.website(record.protocol, record.address);
    default:
      return kind satisfies never;
  }
}

/** Returns the state and what continues with it, in the words of this version. */
function partsOf(record: SubjectRecord): Omit<Remembered, "kind" | "sinceMs"> {
  const { kind } = record;
  switch (kind) {
    case "cluster":
      return { state: stateIn(PROBLEM_OF.cluster, record.state) };
    case "appliance":
      return { state: stateIn(PROBLEM_OF.appliance, record.state) };
    case "readiness":
      return { state: stateIn(PROBLEM_OF.readiness, record.state) };
    case "group": {
      const { vhid, vip, interface: name, master, latestMaster = master, isPreferredMaster } = record;
      const group = { vhid, vip, interface: name };
      const trouble = stateIn(TROUBLES, record.trouble ?? record.state);
      const state = stateIn(PROBLEM_OF.group, record.state);
      return { group, state, master, latestMaster, isPreferredMaster, trouble };
    }
    case "website": {
      const shown = stateIn(PROBLEM_OF.website, record.shown ?? record.state);
      return { state: stateIn(PROBLEM_OF.website, record.state), shown };
    }
    default:
      return kind satisfies never;
  }
}

/** Returns a state that this version knows. */
function stateIn<State extends string>(
  states: Readonly<Record<State, unknown>>,
  state: string | undefined,
): State | undefined {
  return keysOf(states).find((each) => each === state);
}
