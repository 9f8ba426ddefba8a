import type { Observation } from "../polling/observation.ts";
import { createMemo } from "../support/once.ts";
import { placeOf, type ApplianceState } from "./appliance-state.ts";
import { discoverySection } from "./discovery.ts";
import type {
  AnomaliesSnapshot,
  ApplianceSnapshot,
  DiscoverySnapshot,
  FoundWebsiteSnapshot,
  Identity,
  VrrpListSnapshot,
  WebsiteSnapshot,
} from "./snapshot.ts";
import { vrrpSection } from "./vrrp.ts";
import { websiteSection } from "./website.ts";

/** The snapshots of appliances. Each is the same object until its appliance was polled, or one of its operations stalls. */
export interface ApplianceSnapshots {
  /** What is true of an appliance at the monotonic instant `nowMs`. */
  of(state: ApplianceState, nowMs: number): ApplianceSnapshot;
  /**
   * Prepares that of the state after a poll, so that `of` returns it: the same as `of` would make, but what it shares with the
   * one before is not looked at, which would cost more than the rest of a poll.
   */
  polled(before: ApplianceState, state: ApplianceState, observation: Observation, nowMs: number): void;
}

/** The latest snapshot of an appliance. */
interface Kept {
  readonly state: ApplianceState;
  readonly snapshot: ApplianceSnapshot;
  /** Until when, at least, time alone does not change it. */
  readonly untilMs: number;
}

type Discovered = Pick<ApplianceSnapshot, "discovery" | "found">;

const NOT_DISCOVERED: Discovered = { discovery: undefined, found: [] };

export function createApplianceSnapshots(): ApplianceSnapshots {
  const kept = new WeakMap<Identity, Kept>();
  const onceAnomalies = createMemo<AnomaliesSnapshot>();

  function snapshotOf(
    { identity, vrrp: record, certificate, totals }: ApplianceState,
    websites: readonly WebsiteSnapshot[],
    { discovery, found }: Discovered,
    nowMs: number,
  ): ApplianceSnapshot {
    const vrrp = vrrpSection(identity, record, certificate, nowMs);
    const anomalies = onceAnomalies(identity, [vrrp.list, discovery, found], () => {
      return { kind: "anomalies", identity, counts: anomaliesIn(vrrp.list, discovery, found) };
    });
    return { identity, vrrp, websites, totals, discovery, found, anomalies };
  }

  return {
    of: (state, nowMs) => {
      const before = kept.get(state.identity);
      if (before?.state === state && nowMs < before.untilMs) return before.snapshot;
      const { identity, config, known, tests, discovery } = state;
      const websites = tests.map(({ website, record }) => websiteSection(identity, website, record, nowMs));
      const discovered =
        discovery === undefined
          ? NOT_DISCOVERED
          : discoverySection(identity, config, discovery, known, nowMs);
      const snapshot = snapshotOf(state, websites, discovered, nowMs);
      kept.set(identity, { state, snapshot, untilMs: nextStallMs(state, nowMs) });
      return snapshot;
    },
    polled: (before, state, observation, nowMs) => {
      const last = kept.get(before.identity);
      if (last?.state !== before || nowMs >= last.untilMs || before.discovery !== state.discovery) return;
      let { websites } = last.snapshot;
      if (observation.kind === "website_test") {
        const at = placeOf(state, observation.websiteId);
        const test = state.tests[at];
        if (test !== undefined)
          websites = websites.with(at, websiteSection(state.identity, test.website, test.record, nowMs));
      }
      const snapshot = snapshotOf(state, websites, last.snapshot, nowMs);
      const untilMs = Math.min(last.untilMs, observation.expiresAtMs);
      kept.set(state.identity, { state, snapshot, untilMs });
    },
  };
}

/** Those of a list that is known; members of details that cannot be read are fields too. */
function anomaliesIn(
  list: VrrpListSnapshot | undefined,
  discovery: DiscoverySnapshot | undefined,
  found: readonly FoundWebsiteSnapshot[],
): AnomaliesSnapshot["counts"] {
  const inDetails = found.reduce((sum, { details }) => sum + details.invalid.length, 0);
  return {
    ...list?.anomalies,
    ...(list === undefined ? {} : { bad_field: list.anomalies.bad_field + inDetails }),
    ...(discovery?.badIds === undefined ? {} : { bad_website: discovery.badIds }),
  };
}

/** When the next operation of the appliance stalls if it is not polled. */
function nextStallMs({ vrrp, tests, discovery }: ApplianceState, nowMs: number): number {
  const found = discovery === undefined ? [] : [discovery.list, ...discovery.details.values()];
  const expiriesMs = [vrrp, ...tests.map(({ record }) => record), ...found].map(
    ({ expiresAtMs }) => expiresAtMs,
  );
  return Math.min(...expiriesMs.filter((expiresAtMs) => expiresAtMs > nowMs));
}
