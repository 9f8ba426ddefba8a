import type { FailureReason } from "../../client/failure.ts";
import type { PollHealth } from "../../fleet/snapshot.ts";

export const APPLIANCE_STATES = ["up", "down", "refused", "unknown"] as const;
export type ApplianceState = (typeof APPLIANCE_STATES)[number];

export const CLUSTER_STATES = ["up", "degraded", "dark", "unknown"] as const;
export type ClusterState = (typeof CLUSTER_STATES)[number];

/** Reasons for which the exporter itself is responsible: nothing is known of the appliance. */
const OWN_FAULTS: ReadonlySet<FailureReason> = new Set(["stalled", "secret", "local", "internal"]);

/** The state of an appliance by the latest poll of its VRRP list; `undefined` before the first. */
export function judgeAppliance({ state, failure }: PollHealth): ApplianceState | undefined {
  if (state === "never_polled") return undefined;
  if (failure === undefined) return "up";
  if (failure.reason === "auth") return "refused";
  return OWN_FAULTS.has(failure.reason) ? "unknown" : "down";
}

/**
 * The state of a cluster by its appliances; those that were not polled yet do not count; `undefined` if none was.
 *
 * - `up`: all answer. `degraded`: some do. `dark`: all are down. `unknown`: none answers, and not all are down.
 */
export function judgeCluster(appliances: readonly (ApplianceState | undefined)[]): ClusterState | undefined {
  const polled = appliances.filter((state) => state !== undefined);
  if (polled.length === 0) return undefined;
  const up = polled.filter((state) => state === "up").length;
  if (up > 0) return up === polled.length ? "up" : "degraded";
  return polled.every((state) => state === "down") ? "dark" : "unknown";
}
