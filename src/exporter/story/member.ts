import type { FailureReason } from "../api/failure.ts";
import type { Answers, PollTimes, Answer } from "../fleet/answers.ts";

/** A member of a group in the exporter's view when it judges a failover. Instants are monotonic. */
export interface Member {
  readonly appliance: string;
  readonly answers: Answers;
  /** The instants of the latest valid answer. */
  readonly polled: PollTimes | undefined;
  /** The end of the first poll that the member did not answer at all, while its list is not known. */
  readonly lostSinceMs: number | undefined;
  /** The beginning of the poll that ended at `lostSinceMs`. */
  readonly lostSentMs: number | undefined;
  /** The reason why the member's latest poll failed. */
  readonly reason: FailureReason | undefined;
}

/** Returns the instants of the latest poll of a run. */
export function lastPollOf(
  { answers, polled }: Pick<Member, "answers" | "polled">,
  answer: Answer,
): PollTimes {
  return answer === answers.at(-1) ? (polled ?? answer.last) : answer.last;
}
