import type { FailureReason } from "../api/failure.ts";
import type { Answers, Hearing, PollTimes, Answer } from "../fleet/answers.ts";

/** A member of a group in the exporter's view when it judges a failover. Instants are monotonic. */
export interface Member extends Hearing {
  readonly appliance: string;
  readonly answers: Answers;
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
