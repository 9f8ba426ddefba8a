import type { ApplianceConfig, Config, WebsiteConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { afterObservation, newState, reconfigured, type ApplianceState } from "./appliance-state.ts";
import type { FleetChange } from "./changes.ts";
import { isStalled, type OperationRecord } from "./record.ts";
import { createSectionMemo } from "./section-memo.ts";
import {
  clusterSection,
  totalsSection,
  vrrpSection,
  websiteSection,
  type ClusterSection,
  type Members,
} from "./sections.ts";
import type {
  ApplianceSnapshot,
  ClusterSnapshot,
  FleetSnapshot,
  TotalsSnapshot,
  VrrpSnapshot,
  WebsiteSnapshot,
} from "./snapshot.ts";

/** The latest observations of every appliance. */
export interface Fleet {
  /**
   * Makes these the appliances. What stays, by name and operation, keeps its counters and its latest observation; an
   * appliance at another address is a new one. First polls are expected from the monotonic instant `nowMs` on.
   */
  configure(config: Pick<Config, "appliances">, nowMs: number): void;
  /** Takes in an observation; one of an appliance or website that is gone changes nothing. */
  record(observation: Observation, nowMs: number): Recorded;
  /** What is true at the monotonic instant `nowMs`, expiry included. */
  snapshot(nowMs: number): FleetSnapshot;
}

export interface Recorded {
  readonly changes: readonly FleetChange[];
  /** The cluster of the appliance as it is now; `undefined` for an appliance that is gone. */
  readonly cluster: ClusterSnapshot | undefined;
}

/** A fleet of no appliances. */
export function createFleet(): Fleet {
  const onceVrrp = createSectionMemo<VrrpSnapshot>();
  const onceWebsite = createSectionMemo<WebsiteSnapshot>();
  const onceTotals = createSectionMemo<TotalsSnapshot>();
  const onceAppliance = createSectionMemo<ApplianceSnapshot>();
  const onceCluster = createSectionMemo<ClusterSection>();
  let states = new Map<string, ApplianceState>();
  let clusters: ReadonlyMap<string, Members> = new Map();

  function stateFor(config: ApplianceConfig, nowMs: number): ApplianceState {
    const known = states.get(config.name);
    return known === undefined || known.config.baseUrl !== config.baseUrl
      ? newState(config, nowMs)
      : reconfigured(known, config, nowMs);
  }

  function vrrpOf({ identity, vrrp, certificate }: ApplianceState, nowMs: number): VrrpSnapshot {
    const madeOf = [identity, certificate, isStalled(vrrp, nowMs)];
    return onceVrrp(vrrp, madeOf, () => vrrpSection(identity, vrrp, certificate, nowMs));
  }

  function websiteOf(
    { identity, websites }: ApplianceState,
    website: WebsiteConfig,
    nowMs: number,
  ): readonly WebsiteSnapshot[] {
    const record = websites.get(website.id);
    if (record === undefined) return [];
    const madeOf = [identity, website, isStalled(record, nowMs)];
    return [onceWebsite(record, madeOf, () => websiteSection(identity, website, record, nowMs))];
  }

  function totalsOf({ identity, totals, config }: ApplianceState): TotalsSnapshot {
    const hasWebsites = config.websites.length > 0;
    return onceTotals(identity, [totals, hasWebsites], () => totalsSection(identity, totals, hasWebsites));
  }

  function applianceOf(state: ApplianceState, nowMs: number): ApplianceSnapshot {
    const { identity } = state;
    const vrrp = vrrpOf(state, nowMs);
    const websites = state.config.websites.flatMap((website) => websiteOf(state, website, nowMs));
    const totals = totalsOf(state);
    return onceAppliance(identity, [vrrp, totals, ...websites], () => ({ identity, vrrp, websites, totals }));
  }

  /** Made anew when an appliance was polled or has stalled. */
  function clusterOf(members: Members, nowMs: number): ClusterSnapshot {
    const all = members.names.flatMap((name) => states.get(name) ?? []);
    const stalled = all.flatMap(recordsOf).filter((record) => isStalled(record, nowMs)).length;
    return onceCluster(members, [stalled, ...all], (before) => {
      const appliances = all.map((state) => applianceOf(state, nowMs));
      return clusterSection(members, all, appliances, nowMs, before);
    }).snapshot;
  }

  return {
    configure: (config, nowMs) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      states = new Map(enabled.map((appliance) => [appliance.name, stateFor(appliance, nowMs)]));
      clusters = clustersOf(config.appliances);
    },
    record: (observation, nowMs) => {
      const before = states.get(observation.appliance);
      if (before === undefined) return { changes: [], cluster: undefined };
      const { state, changes } = afterObservation(before, observation, nowMs);
      states.set(observation.appliance, state);
      try {
        const members = clusters.get(state.identity.cluster);
        return { changes, cluster: members && clusterOf(members, nowMs) };
      } catch (error) {
        // A bug in here must not leave behind a state that every snapshot would stumble over.
        states.set(observation.appliance, before);
        throw error;
      }
    },
    snapshot: (nowMs) => ({ clusters: [...clusters.values()].map((members) => clusterOf(members, nowMs)) }),
  };
}

function recordsOf({ vrrp, websites }: ApplianceState): readonly OperationRecord<unknown>[] {
  return [vrrp, ...websites.values()];
}

/** By name. A disabled appliance makes its cluster no smaller, and is not one of its members. */
function clustersOf(appliances: readonly ApplianceConfig[]): ReadonlyMap<string, Members> {
  const byCluster = new Map<string, ApplianceConfig[]>();
  for (const appliance of appliances) {
    const { cluster } = appliance;
    byCluster.set(cluster, [...(byCluster.get(cluster) ?? []), appliance]);
  }
  const members = Array.from(byCluster, ([cluster, all]): Members => {
    const names = all.filter(({ enabled }) => enabled).map(({ name }) => name);
    return { cluster, names, hasDisabled: names.length < all.length, hasGroups: all.length > 1 };
  });
  return new Map(
    members.filter(({ names }) => names.length > 0).map((each) => [each.cluster, each] as const),
  );
}
