import { lastPollOf, type Member } from "./member.ts";

/** A time in which polls found the same priority of a member. Instants are monotonic. */
interface PrioritySpan {
  readonly priority: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly learnedMs: number;
}

/** The priorities of both members that were reported at the same time, as far as polls can show. */
interface Order {
  readonly former: PrioritySpan;
  readonly successor: PrioritySpan;
  readonly isHigher: boolean;
}

/** Returns which of the two had the higher priority, oldest first, since a monotonic instant. */
export function ordersOf(former: Member, successor: Member, sinceMs: number): readonly Order[] {
  const others = spansOf(successor);
  return spansOf(former).flatMap((one) =>
    others.flatMap((other): readonly Order[] => {
      const fromMs = Math.max(one.fromMs, other.fromMs);
      const untilMs = Math.min(one.untilMs, other.untilMs);
      if (fromMs > untilMs || untilMs < sinceMs) return [];
      return [{ former: one, successor: other, isHigher: other.priority > one.priority }];
    }),
  );
}

/**
 * Returns the times of each priority. The present priority lasts while the list of the member is known, since the other member may have
 * been polled later.
 */
function spansOf(member: Member): readonly PrioritySpan[] {
  const { answers, reason } = member;
  const begins = answers.filter(
    ({ after, priority }, nth) => nth === 0 || after !== undefined || priority !== answers[nth - 1]?.priority,
  );
  return begins.flatMap((answer, nth): readonly PrioritySpan[] => {
    const { priority, first } = answer;
    const next = begins[nth + 1];
    const last = next === undefined ? answers.at(-1) : answers[answers.indexOf(next) - 1];
    if (priority === undefined || last === undefined) return [];
    const isPresent = next === undefined && reason === undefined;
    const untilMs = isPresent ? Number.POSITIVE_INFINITY : lastPollOf(member, last).sentMs;
    return [{ priority, fromMs: first.sentMs, untilMs, learnedMs: first.endedMs }];
  });
}
