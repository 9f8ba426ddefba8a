import type { ApplianceSnapshot, FleetSnapshot, PollHealth } from "../fleet/snapshot.ts";
import type { OperationKind } from "../polling/observation.ts";
import { createFleetExposition } from "./exposition.ts";
import { asBit } from "./family.ts";

export interface ProbeFacts {
  /** Of those that the probe polled. */
  readonly operations: ReadonlySet<OperationKind>;
  readonly isSuccess: boolean;
  readonly durationSeconds: number;
}

/** A snapshot of what was probed, as text: its series as far as they are about these operations, and how the probe went. */
export function renderProbe(
  { appliances, clusters }: FleetSnapshot,
  { operations, isSuccess, durationSeconds }: ProbeFacts,
): string {
  const asked = {
    appliances: appliances.map((appliance) => only(appliance, operations)),
    clusters: operations.has("vrrp") ? clusters : [],
  };
  return (
    createFleetExposition().render(asked).toString() +
    gauge("probe_success", "Whether every poll of this probe succeeded.", asBit(isSuccess)) +
    gauge("probe_duration_seconds", "How long this probe took.", durationSeconds)
  );
}

function only(appliance: ApplianceSnapshot, operations: ReadonlySet<OperationKind>): ApplianceSnapshot {
  const { vrrp, websites, totals } = appliance;
  return {
    ...appliance,
    vrrp: operations.has("vrrp") ? vrrp : { ...vrrp, health: NOT_ASKED, list: undefined },
    websites: operations.has("website_test") ? websites : [],
    totals: { ...totals, totals: totals.totals.filter(({ operation }) => operations.has(operation)) },
  };
}

const NOT_ASKED: PollHealth = {
  state: "never_polled",
  failure: undefined,
  durationSeconds: undefined,
  lastSuccessAtMs: undefined,
  failingSinceMs: undefined,
};

function gauge(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`;
}
