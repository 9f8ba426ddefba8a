import { once } from "../../support/kept.ts";

/**
 * The role of a member. It is `unknown` if the appliance's list is not known now, and the appliance was last seen in this group or was
 * never seen at all. It is `other` if it is known, and is neither MASTER nor BACKUP.
 */
export type MemberRole = "master" | "backup" | "other" | "unknown";

/** The report of an appliance about a group in one answer; the role is `absent` if the appliance lists no interface of the group. */
export interface AnswerContent {
  /** The role; `unknown` if none of the appliance's interfaces in the group is readable. */
  readonly role: MemberRole | "absent";
  /** The reported state; empty where the role is `absent` or `unknown`. */
  readonly state: string;
  /** Whether the appliance was MASTER when it was last readable. */
  readonly isMaster: boolean;
  readonly priority: number | undefined;
}

/** Equal answers in a row, without a silence between them. Instants are monotonic. */
export interface Answer extends AnswerContent {
  /** The beginning and the end of the first poll, and of the latest one. Of the latest answer, `SeenVrrp.polled` has the latest. */
  readonly first: PollTimes;
  readonly last: PollTimes;
  /** The silence that the first answer ended. */
  readonly after: Silence | undefined;
}

/** The instants at which the poll of an answer began and the answer was complete. */
export interface PollTimes {
  readonly sentMs: number;
  readonly endedMs: number;
}

/** A time without a valid answer. */
export interface Silence {
  readonly sinceMs: number;
  /** The end of the first poll in the silence that failed because the appliance did not answer; `undefined` if there was none. */
  readonly lostSinceMs: number | undefined;
  /** The beginning of the poll that ended at `lostSinceMs`. */
  readonly lostSentMs: number | undefined;
  /** Whether nobody asked the appliance, as its schedule rested. */
  readonly isUnwatched?: true;
}

/** The latest answers of an appliance about one group, oldest first. The list stays the same object while the answers are the same. */
export type Answers = readonly Answer[];

const MAX_RUNS = 8;

/** Returns the course after one more answer; `before` has the instants of the latest answer until now. */
export function courseAfter(
  course: Answers | undefined,
  fact: AnswerContent,
  {
    polled,
    before = polled,
    after,
  }: { polled: PollTimes; before: PollTimes | undefined; after: Silence | undefined },
): Answers {
  const run = { ...fact, first: polled, last: polled, after };
  const latest = course?.at(-1);
  if (course === undefined || latest === undefined) return [run];
  const { role, state, priority } = latest;
  const isSame = role === fact.role && state === fact.state && priority === fact.priority;
  if (isSame && after === undefined) return course;
  return bounded([...course.slice(0, -1), { ...latest, last: before }, run]);
}

/**
 * Keeps changes to and from MASTER longest. Two runs without such a change between them become one, without a priority. If there are no
 * such runs, the oldest run is dropped.
 */
function bounded(course: Answers): Answers {
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

/** The monotonic instants at which changes of an appliance in a group were learned. */
interface MasterChanges {
  /**
   * The instants at which the appliance became MASTER or stopped being MASTER. A MASTER that is seen for the first time counts as such a
   * change.
   */
  readonly switchedAtMs: readonly number[];
  /**
   * The latest of these instants, or the instant at which the appliance answered again after a silence, in which its role may have changed.
   */
  readonly changedAtMs: number;
}

export const masterChanges = once((course: Answers): MasterChanges => {
  const switches = course.filter((run, nth) => run.isMaster !== (course[nth - 1]?.isMaster ?? false));
  const returns = course.filter(({ after }) => after !== undefined);
  const learned = [...switches, ...returns].map(({ first }) => first.endedMs);
  return {
    switchedAtMs: switches.map(({ first }) => first.endedMs),
    changedAtMs: Math.max(...learned),
  };
});
