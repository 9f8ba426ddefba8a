import { once } from "../../support/kept.ts";

/**
 * The role of a member. It is `unknown` if the appliance's list is not known now, and the appliance was last seen in this group or was
 * never seen at all. It is `other` if it is known, and is neither MASTER nor BACKUP.
 */
export type MemberRole = "master" | "backup" | "other" | "unknown";

/** What an appliance says about a group in one answer; the role is `absent` if the appliance lists no interface of the group. */
export interface AnswerContent {
  /** The role; `unknown` if none of the appliance's interfaces in the group is readable. */
  readonly role: MemberRole | "absent";
  /** The reported state; empty where the role is `absent` or `unknown`. */
  readonly state: string;
  /** Whether the appliance was MASTER when it was last readable. */
  readonly isMaster: boolean;
  readonly priority: number | undefined;
}

/** An answer, which equal answers may repeat until there is a silence or another answer. Instants are monotonic. */
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

const MAX_ANSWERS = 8;

/** Returns the answers after one more; `before` has the instants of the latest poll until now. */
export function answersAfter(
  answers: Answers | undefined,
  fact: AnswerContent,
  {
    polled,
    before = polled,
    after,
  }: { polled: PollTimes; before: PollTimes | undefined; after: Silence | undefined },
): Answers {
  const answer = { ...fact, first: polled, last: polled, after };
  const latest = answers?.at(-1);
  if (answers === undefined || latest === undefined) return [answer];
  const { role, state, priority } = latest;
  const isSame = role === fact.role && state === fact.state && priority === fact.priority;
  if (isSame && after === undefined) return answers;
  return bounded([...answers.slice(0, -1), { ...latest, last: before }, answer]);
}

/**
 * Keeps changes to and from MASTER longest. Two answers without such a change between them become one, without a priority. If there are no
 * such answers, the oldest one is dropped.
 */
function bounded(answers: Answers): Answers {
  if (answers.length <= MAX_ANSWERS) return answers;
  const at = answers.findIndex((answer, nth) => {
    const next = answers[nth + 1];
    return next !== undefined && next.isMaster === answer.isMaster && next.after === undefined;
  });
  const [one, other] = answers.slice(at, at + 2);
  if (at < 0 || one === undefined || other === undefined || at === answers.length - 2)
    return answers.slice(1);
  const both = { ...other, priority: undefined, first: one.first, after: one.after };
  return [...answers.slice(0, at), both, ...answers.slice(at + 2)];
}

/** Returns the instant at which the exporter learned that a member became the present MASTER; `undefined` if the member is not MASTER. */
export function masterSeenMs(answers: Answers): number | undefined {
  const begins = (answer: Answer, nth: number): boolean =>
    answer.after !== undefined || answers[nth - 1]?.isMaster !== true;
  if (answers.at(-1)?.isMaster !== true) return undefined;
  return answers.findLast((answer, nth) => answer.isMaster && begins(answer, nth))?.first.endedMs;
}

/** What an appliance was heard of until it fell silent. Instants are monotonic. */
export interface Hearing {
  /** The instants of the latest valid answer. */
  readonly polled: PollTimes | undefined;
  /** The end of the latest poll that the appliance answered in any way, also with an error. */
  readonly heardMs: number | undefined;
  /** The end of the first poll that the appliance did not answer at all, while its list is not known. */
  readonly lostSinceMs: number | undefined;
  /** The beginning of the poll that ended at `lostSinceMs`. */
  readonly lostSentMs: number | undefined;
}

/**
 * Whether an appliance was MASTER of a group until it fell silent. `takenOverMs` is the instant at which another member was seen as MASTER:
 * a silence that began later proves nothing, unless the appliance was last heard of before, as MASTER.
 */
export function fellSilentAsMaster(
  answers: Answers,
  { polled, heardMs = Number.NEGATIVE_INFINITY, lostSentMs }: Hearing,
  takenOverMs: number,
): boolean {
  const last = answers.at(-1);
  if (last?.isMaster !== true || lostSentMs === undefined) return false;
  const wasLastMaster = last.role === "master" && heardMs === polled?.endedMs;
  return lostSentMs <= takenOverMs || (wasLastMaster && heardMs <= takenOverMs);
}

/** The monotonic instants at which changes of an appliance in a group were learned. */
interface MasterChanges {
  /**
   * The instants at which the appliance became MASTER or stopped being MASTER. A MASTER that is seen for the first time counts as such a
   * change.
   */
  readonly masterChangedAtMs: readonly number[];
  /**
   * The latest of these instants, or the instant at which the appliance answered again after a silence, in which its role may have changed.
   */
  readonly changedAtMs: number;
}

export const masterChanges = once((answers: Answers): MasterChanges => {
  const masterChanged = answers.filter(
    (answer, nth) => answer.isMaster !== (answers[nth - 1]?.isMaster ?? false),
  );
  const returns = answers.filter(({ after }) => after !== undefined);
  const learned = [...masterChanged, ...returns].map(({ first }) => first.endedMs);
  return {
    masterChangedAtMs: masterChanged.map(({ first }) => first.endedMs),
    changedAtMs: Math.max(...learned),
  };
});
