import { absoluteTime, duration } from "./time.ts";

/** What came in place of an answer that can be shown: another's, by its status, or the exporter's own; else nothing. */
export type Failure = number | "unshowable" | undefined;

/** What is said while the exporter does not answer. `sinceMs`: Unix time of its last answer. */
export function lostMessage(sinceMs: number, nowMs: number, failure: Failure): string {
  const since = absoluteTime(new Date(sinceMs).toISOString());
  const age = duration(Math.max(0, nowMs - sinceMs));
  return `No answer from the exporter since ${since} (${age}).${detailOf(failure)} What is below is what it said then.`;
}

function detailOf(failure: Failure): string {
  if (failure === undefined) return "";
  return failure === "unshowable"
    ? " What it sends now cannot be shown here: reload the page."
    : ` Something else answers, with status ${failure}.`;
}

export const LOST_TITLE = "No answer – appliance-exporter";
