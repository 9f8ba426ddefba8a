import { absoluteTime, duration } from "../view/time.ts";

/** The page is current while its latest answer is at most this old; it requests one every second. */
export const CURRENT_FOR_MS = 3000;

/** What the browser knows about its requests; ages in milliseconds. */
export interface Contact {
  readonly answerAgeMs: number;
  /** Age of a request without an answer. */
  readonly requestAgeMs: number | undefined;
  /** Whether a request failed after the latest answer. */
  readonly hasFailed: boolean;
}

/** `connecting`: the browser was asleep, and the page may be out of date. */
export type Freshness = "live" | "connecting" | "lost";

export function freshnessOf({ answerAgeMs, requestAgeMs = 0, hasFailed }: Contact): Freshness {
  if (answerAgeMs <= CURRENT_FOR_MS) return "live";
  return hasFailed || requestAgeMs > CURRENT_FOR_MS ? "lost" : "connecting";
}

/** What the banner says. `at`: RFC 3339 time of the latest answer; `status`: of a response that is not the status page. */
export function lostMessage(at: string, ageMs: number, status: number | undefined): string {
  const detail = status === undefined ? "" : ` The last response was not the status page (HTTP ${status}).`;
  return `No answer from the exporter since ${absoluteTime(at)} (${duration(ageMs)}).${detail} Below is its last answer.`;
}
