import { once } from "../support/kept.ts";

/**
 * `unknown`: its list is not known now, and it was last seen in this group or never seen at all; `other`: it is known, and
 * in a state that is neither MASTER nor BACKUP.
 */
export type MemberRole = "master" | "backup" | "other" | "unknown";

/** Holds what an appliance says of a group in one answer; `absent`: it lists no interface of the group. */
export interface GroupFact {
  /** `unknown`: none of its interfaces in the group is readable. */
  readonly role: MemberRole | "absent";
  /** As reported; empty where the role is `absent` or `unknown`. */
  readonly state: string;
  /** Whether it was MASTER when it was last readable. */
  readonly isMaster: boolean;
  readonly priority: number | undefined;
}

/** Answers in a row that say the same, without a silence between them. Instants are monotonic. */
export interface Run extends GroupFact {
  /** The beginnings and the ends of the first poll and of the latest one; of the run that lasts, `Polled` has the latest. */
  readonly first: Polled;
  readonly last: Polled;
  /** The silence that the first answer ended. */
  readonly after: Silence | undefined;
}

/** When the poll of an answer began, and when the answer was complete. */
export interface Polled {
  readonly sentMs: number;
  readonly endedMs: number;
}

/** A time without a valid answer. */
export interface Silence {
  readonly sinceMs: number;
  /** The end of the first poll in it that failed because the appliance did not answer; `undefined` if there was none. */
  readonly lostSinceMs: number | undefined;
  /** The beginning of that poll. */
  readonly lostSentMs: number | undefined;
}

/** Holds what an appliance said of one group lately, oldest first. It is the same list while the appliance says the same. */
export type Course = readonly Run[];

const MAX_RUNS = 8;

/** The course after one more answer. `before`: how the latest answer until now was polled. */
export function courseAfter(
  course: Course | undefined,
  fact: GroupFact,
  {
    polled,
    before = polled,
    after,
  }: { polled: Polled; before: Polled | undefined; after: Silence | undefined },
): Course {
  const run = { ...fact, first: polled, last: polled, after };
  const latest = course?.at(-1);
  if (course === undefined || latest === undefined) return [run];
  const { role, state, priority } = latest;
  const isSame = role === fact.role && state === fact.state && priority === fact.priority;
  if (isSame && after === undefined) return course;
  return bounded([...course.slice(0, -1), { ...latest, last: before }, run]);
}

/**
 * Changes to and from MASTER are kept longest: two runs between which there is none become one, without a priority. Where there are no
 * such runs, the oldest is dropped.
 */
function bounded(course: Course): Course {
  if (course.length <= MAX_RUNS) return course;
  const at = course.findIndex((run, nth) => {
    const next = course[nth + 1];
    return next !== undefined && next.isMaster === run.isMaster && next.after === undefined;
  });
  const [one, other] = course.slice(at, at + 2);
  if (at < 0 || one === undefined || other === undefined || at === course.length - 2) return course.slice(1);
  const both = { ...other, priority: undefined, first: one.first, after: one.after };
  return [...course.slice(0, at), both, ...course.slice(at + 2)];
}

/** Monotonic instants at which changes of an appliance in a group were learned. */
interface MasterChanges {
  /** When it became MASTER or stopped being MASTER. A MASTER that is seen for the first time is one. */
  readonly switchedAtMs: readonly number[];
  /** The latest of these, or when it answered again after it was silent, when it may have been either. */
  readonly changedAtMs: number;
}

export const masterChanges = once((course: Course): MasterChanges => {
  const switches = course.filter((run, nth) => run.isMaster !== (course[nth - 1]?.isMaster ?? false));
  const returns = course.filter(({ after }) => after !== undefined);
  const learned = [...switches, ...returns].map(({ first }) => first.endedMs);
  return {
    switchedAtMs: switches.map(({ first }) => first.endedMs),
    changedAtMs: Math.max(...learned),
  };
});
