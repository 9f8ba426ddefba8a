import { absoluteTime, duration } from "./time.ts";

/** What is said while the exporter does not answer. `sinceMs`: Unix time of its last answer. `status`: of an answer that is none. */
export function lostMessage(sinceMs: number, nowMs: number, status: number | undefined): string {
  const since = absoluteTime(new Date(sinceMs).toISOString());
  const how = status === undefined ? "" : ` Something else answers, with status ${status}.`;
  const age = duration(Math.max(0, nowMs - sinceMs));
  return `No answer from the exporter since ${since} (${age}).${how} What is below is what it said then.`;
}

export const LOST_TITLE = "No answer – appliance-exporter";
