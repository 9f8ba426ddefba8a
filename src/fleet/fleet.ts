import type { ApplianceConfig, Config, WebsiteConfig } from "../config/config.ts";
import type { Observation } from "../polling/observation.ts";
import { afterObservation, newState, reconfigured, type ApplianceState } from "./appliance-state.ts";
import type { FleetChange } from "./changes.ts";
import { isStalled } from "./record.ts";
import { createSectionMemo } from "./section-memo.ts";
import {
  clusterSection,
  type ClusterSection,
  totalsSection,
  vrrpSection,
  websiteSection,
} from "./sections.ts";
import type {
  ClusterSnapshot,
  FleetSnapshot,
  Section,
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
  /** The parts of the snapshot that are new now. */
  readonly sections: readonly Section[];
}

/** A fleet of no appliances. */
export function createFleet(): Fleet {
  const onceVrrp = createSectionMemo<VrrpSnapshot>();
  const onceWebsite = createSectionMemo<WebsiteSnapshot>();
  const onceTotals = createSectionMemo<TotalsSnapshot>();
  const onceCluster = createSectionMemo<ClusterSection>();
  let states = new Map<string, ApplianceState>();
  /** Names of the members, at least one, of clusters of two or more. */
  let clusters: ReadonlyMap<string, readonly string[]> = new Map();

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

  function newSections(state: ApplianceState, observation: Observation, nowMs: number): readonly Section[] {
    const { cluster } = state.identity;
    const members = observation.kind === "vrrp" ? clusters.get(cluster) : undefined;
    const shared = members === undefined ? [] : [clusterOf(cluster, members, nowMs)];
    return [...polledSections(state, observation, nowMs), totalsOf(state), ...shared];
  }

  /** The sections of the operation that was polled. */
  function polledSections(
    state: ApplianceState,
    observation: Observation,
    nowMs: number,
  ): readonly (VrrpSnapshot | WebsiteSnapshot)[] {
    if (observation.kind === "vrrp") return [vrrpOf(state, nowMs)];
    const website = state.config.websites.find(({ id }) => id === observation.websiteId);
    return website === undefined ? [] : websiteOf(state, website, nowMs);
  }

  function totalsOf({ identity, totals, config }: ApplianceState): TotalsSnapshot {
    const hasWebsites = config.websites.length > 0;
    return onceTotals(totals, [identity, hasWebsites], () => totalsSection(identity, totals, hasWebsites));
  }

  function clusterOf(cluster: string, names: readonly string[], nowMs: number): ClusterSnapshot {
    const members = names.flatMap((name) => states.get(name) ?? []);
    const madeOf = members.flatMap(({ identity, vrrp }) => [identity, vrrp, isStalled(vrrp, nowMs)]);
    return onceCluster(names, madeOf, (before) => clusterSection(cluster, members, nowMs, before)).section;
  }

  return {
    configure: (config, nowMs) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      states = new Map(enabled.map((appliance) => [appliance.name, stateFor(appliance, nowMs)]));
      clusters = clustersOf(config.appliances);
    },
    record: (observation, nowMs) => {
      const before = states.get(observation.appliance);
      if (before === undefined) return { changes: [], sections: [] };
      const { state, changes } = afterObservation(before, observation, nowMs);
      states.set(observation.appliance, state);
      try {
        return { changes, sections: newSections(state, observation, nowMs) };
      } catch (error) {
        // A bug in here must not leave behind a state that every snapshot would stumble over.
        states.set(observation.appliance, before);
        throw error;
      }
    },
    snapshot: (nowMs) => ({
      appliances: [...states.values()].map((state) => ({
        identity: state.identity,
        vrrp: vrrpOf(state, nowMs),
        websites: state.config.websites.flatMap((website) => websiteOf(state, website, nowMs)),
        totals: totalsOf(state),
      })),
      clusters: [...clusters].map(([cluster, names]) => clusterOf(cluster, names, nowMs)),
    }),
  };
}

/**
 * A disabled appliance makes its cluster no smaller, and is no member of it for as long as it is not polled. A cluster
 * without any member is none.
 */
function clustersOf(appliances: readonly ApplianceConfig[]): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, ApplianceConfig[]>();
  for (const appliance of appliances) {
    members.set(appliance.cluster, [...(members.get(appliance.cluster) ?? []), appliance]);
  }
  const backedUp = [...members].filter(([, all]) => all.length > 1);
  const polled = backedUp.map(
    ([cluster, all]) => [cluster, all.filter(({ enabled }) => enabled).map(({ name }) => name)] as const,
  );
  return new Map(polled.filter(([, names]) => names.length > 0));
}
