import type { TestResult } from "../../fleet/snapshot.ts";

export const WEBSITE_STATES = ["up", "partially_down", "down_at_master", "down", "unknown"] as const;
export type WebsiteState = (typeof WEBSITE_STATES)[number];

/** A website by one protocol, as one appliance that tests it finds it. */
export interface View {
  readonly result: TestResult;
  /** Whether the appliance is known to be MASTER of a group of its cluster. */
  readonly isMaster: boolean;
}

export interface WebsiteContext {
  /** Whether the cluster has VRRP groups, and so masters. */
  readonly hasGroups: boolean;
  /** Whether an appliance of the cluster is disabled: it may be the master. */
  readonly hasDisabled: boolean;
}

/**
 * The state of a website for its visitors, who get what the masters find; `undefined` where the master may be a disabled
 * appliance. The first that holds:
 *
 * - `down`: all appliances with a result find it down.
 * - `down_at_master`: a master finds it down, another member up.
 * - `unknown`: no appliance has a result, or no known master that tests it has one.
 * - `partially_down`: all masters with a result find it up, another member down.
 * - `up`: a master finds it up, or the cluster has no groups.
 */
export function judgeWebsite(
  views: readonly View[],
  { hasGroups, hasDisabled }: WebsiteContext,
): WebsiteState | undefined {
  const known = views.filter(({ result }) => result !== "unknown");
  const down = known.filter(({ result }) => result === "down");
  if (known.length === 0) return "unknown";
  if (down.length === known.length) return "down";
  if (down.some(({ isMaster }) => isMaster)) return "down_at_master";
  if (hasGroups && !known.some(({ isMaster }) => isMaster)) {
    return hasDisabled && !views.some(({ isMaster }) => isMaster) ? undefined : "unknown";
  }
  return down.length > 0 ? "partially_down" : "up";
}
