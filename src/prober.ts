import type { ApplianceConfig } from "./config/config.ts";
import { createFleet, type Fleet } from "./fleet/fleet.ts";
import type { FleetSnapshot } from "./fleet/snapshot.ts";
import { renderProbe } from "./metrics/probe-exposition.ts";
import { toSeconds } from "./support/clock.ts";
import { OPERATION_KINDS, type OperationKind } from "./polling/observation.ts";
import { probe, type ProbeDeps, type ProbeResult } from "./polling/probe.ts";
import type { PollingMode } from "./polling/runner.ts";
import type { Probe, ProbeModule } from "./web/probe.ts";

export interface ProberDeps extends ProbeDeps {
  readonly mode: PollingMode;
  readonly fleet: Fleet;
  readonly appliances: () => readonly ApplianceConfig[];
}

/** Polls nothing takes for ever; the configured timeouts end a probe of which nobody says how long it may take. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Answers probes: what is called so is polled, and told from a fleet that is nothing else. */
export function createProber(deps: ProberDeps): Probe {
  return async ({ target, module, timeoutMs }) => {
    const entries = called(target, deps.appliances());
    const appliances = entries.filter(({ enabled }) => enabled);
    if (appliances.length === 0) return undefined;
    const operations = operationsOf(module);
    const startedMs = deps.clock.monotonicMs();
    const request = { appliances, operations, timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS) };
    const result = await probe(deps, request);
    const nowMs = deps.clock.monotonicMs();
    const { isSuccess } = result;
    const durationSeconds = toSeconds(nowMs - startedMs);
    // A disabled member makes its cluster no smaller: the groups of the others are groups.
    const snapshot = snapshotOf(deps, entries, result, nowMs);
    return renderProbe(snapshot, { operations, isSuccess, durationSeconds });
  };
}

/** What was polled at least once. */
export function onlyPolled({ appliances, clusters }: FleetSnapshot): FleetSnapshot {
  const polled = appliances.filter(({ totals }) => totals.totals.some(({ polls }) => polls > 0));
  return { appliances: polled, clusters };
}

/** All entries of the cluster that is called so, if one of them is enabled, or else the appliance. */
function called(target: string, appliances: readonly ApplianceConfig[]): readonly ApplianceConfig[] {
  const members = appliances.filter(({ cluster }) => cluster === target);
  const isPolled = members.some(({ enabled }) => enabled);
  return isPolled ? members : appliances.filter(({ name }) => name === target);
}

function operationsOf(module: ProbeModule | undefined): ReadonlySet<OperationKind> {
  switch (module) {
    case undefined:
      return new Set(OPERATION_KINDS);
    case "vrrp":
      return new Set(["vrrp"]);
    case "websites":
      return new Set(["website_test"]);
    default:
      return module satisfies never;
  }
}

/** A fleet that polls on schedule is left alone; else it holds what the polls have yielded, but for what was given up here. */
function snapshotOf(
  { mode, fleet }: ProberDeps,
  appliances: readonly ApplianceConfig[],
  { observations, givenUp }: ProbeResult,
  nowMs: number,
): FleetSnapshot {
  const own = mode === "probe" ? fleet.fork() : createFleet();
  own.configure({ appliances }, Number.POSITIVE_INFINITY);
  if (mode === "scheduled") for (const observation of observations) own.record(observation, nowMs);
  const counted = own.snapshot(nowMs);
  for (const observation of givenUp) own.record(observation, nowMs);
  const snapshot = own.snapshot(nowMs);
  // A poll that goes on will be counted by its result; counters must not go back.
  return mode === "probe" ? withTotalsOf(counted, snapshot) : snapshot;
}

function withTotalsOf(counted: FleetSnapshot, { appliances, clusters }: FleetSnapshot): FleetSnapshot {
  const totals = new Map(counted.appliances.map((appliance) => [appliance.identity.appliance, appliance]));
  return {
    appliances: appliances.map((appliance) => ({
      ...appliance,
      totals: totals.get(appliance.identity.appliance)?.totals ?? appliance.totals,
    })),
    clusters,
  };
}
