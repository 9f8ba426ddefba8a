import type { FailureReason } from "../client/failure.ts";
import type { Course, Polled, Run } from "../fleet/course.ts";

/** A member of a group as the exporter sees it when it judges a failover. Instants are monotonic. */
export interface Party {
  readonly appliance: string;
  readonly course: Course;
  /** The latest valid answer. */
  readonly polled: Polled | undefined;
  /** While its list is not known: the end of the first poll since then that found nobody. */
  readonly lostSinceMs: number | undefined;
  /** The beginning of that poll. */
  readonly lostSentMs: number | undefined;
  /** Why its latest poll failed. */
  readonly reason: FailureReason | undefined;
}

/** How the latest answer of a run was polled. */
export function lastPoll({ course, polled }: Pick<Party, "course" | "polled">, run: Run): Polled {
  return run === course.at(-1) ? (polled ?? run.last) : run.last;
}
