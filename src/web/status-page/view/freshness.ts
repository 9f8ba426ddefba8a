/** So old an answer is still how things are: the exporter is asked every second. */
export const CURRENT_FOR_MS = 3000;

/** What the browser has seen of the exporter; ages in milliseconds. */
export interface Contact {
  /** Since the latest answer. */
  readonly answerAgeMs: number;
  /** Since a question that has no answer yet. */
  readonly questionAgeMs: number | undefined;
  /** Whether a question failed after the latest answer. */
  readonly hasFailed: boolean;
}

/** `asking`: the browser has slept, and what it shows may be old. */
export type Freshness = "live" | "asking" | "lost";

/** Whether what is shown is current. */
export function freshnessOf({ answerAgeMs, questionAgeMs, hasFailed }: Contact): Freshness {
  if (answerAgeMs <= CURRENT_FOR_MS) return "live";
  if (hasFailed) return "lost";
  return questionAgeMs !== undefined && questionAgeMs > CURRENT_FOR_MS ? "lost" : "asking";
}
