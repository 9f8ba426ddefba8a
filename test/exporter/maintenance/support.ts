import type { MaintenanceWindow, Scope } from "../../../src/exporter/maintenance/window.ts";
import { WALL_MS } from "../../support/observations.ts";

/** A window of an hour on what is named, from the instant of the canned observations on. */
export function windowOf(
  scope: Partial<Scope>,
  given: Partial<Omit<MaintenanceWindow, "scope">> = {},
): MaintenanceWindow {
  return {
    id: "patchnight",
    scope: { appliances: [], clusters: [], labels: {}, ...scope },
    beginMs: WALL_MS,
    endMs: WALL_MS + 3_600_000,
    comment: "firmware 4.6",
    by: "alice",
    origin: "command",
    ...given,
  };
}
