import { groupKey } from "../fleet/snapshot.ts";
import type { Memory, Remembered } from "../status/memory.ts";
import { PROBLEM_OF } from "../status/states.ts";
import { subjectKeys } from "../status/subjects.ts";
import type { Instant } from "../support/clock.ts";
import { keysOf } from "../support/keys.ts";
import type { SubjectRecord } from "./record.ts";

/**
 * A state that is the same after at most this time counts as one lasting state, since no poll since then found another. No state lasts if
 * time went back.
 */
const SAME_MS = 3_600_000;
/** The most groups of a cluster that are remembered, and the most states of its websites. */
const MOST = 256;
const { split_brain, no_master, no_backup } = PROBLEM_OF.group;
const TROUBLES = { split_brain, no_master, no_backup };

/** The latest record of a subject, which holds until a Unix time in milliseconds. */
export interface Known {
  readonly record: SubjectRecord;
  readonly untilMs: number;
}

/** Returns what is remembered of a cluster at a start: of too many groups or websites, those in trouble, and the latest of the others. */
export function memoryOf(known: readonly Known[], at: Instant): Memory {
  const all = known.map(({ record, untilMs }): Entry => {
    const { kind, since } = record;
    const awayMs = at.wallMs - untilMs;
    const isRecent = since !== undefined && awayMs >= 0 && awayMs <= SAME_MS;
    const sinceMs = isRecent ? Date.parse(since) : undefined;
    return [keyOf(record), { kind, sinceMs, ...partsOf(record) }];
  });
  return new Map(["group", "website"].reduce(bounded, all));
}

type Entry = readonly [key: string, remembered: Remembered];

function bounded(all: readonly Entry[], kind: string): readonly Entry[] {
  const own = all.filter(([, each]) => each.kind === kind);
  if (own.length <= MOST) return all;
  const isWell = ([, { state }]: Entry): boolean => WELL.has(state);
  const kept = new Set([...own.filter(isWell), ...own.filter((each) => !isWell(each))].slice(-MOST));
  return all.filter((each) => each[1].kind !== kind || kept.has(each));
}

const WELL: ReadonlySet<string | undefined> = new Set(["one_master", "up"]);

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
      return { state: stateIn(PROBLEM_OF.failover, record.state) };
    case "group": {
      const { master, latestMaster = master, isPreferredMaster } = record;
      const trouble = stateIn(TROUBLES, record.trouble ?? record.state);
      const state = stateIn(PROBLEM_OF.group, record.state);
      return { state, master, latestMaster, isPreferredMaster, trouble };
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
