import { isSameAppliance, type ApplianceConfig, type Config } from "../config/config.ts";
import type { Operation } from "../api/operation.ts";
import type { Observation } from "../polling/observation.ts";
import { groupBy } from "../../support/group-by.ts";
import { kept, memo } from "../../support/kept.ts";
import {
  afterObservation,
  applianceAt,
  applianceFor,
  identityOf,
  operationsIn,
  type ApplianceFacts,
} from "./appliance-facts.ts";
import { changesBetween, type FleetChange } from "./changes.ts";
import { clusterWebsites } from "./cluster-websites.ts";
import { groupNames } from "./group-names.ts";
import { groupsOf } from "./groups.ts";
import type { ClusterSnapshot, Identity } from "./snapshot.ts";

/** The latest observations of every appliance. */
export interface Fleet {
  /**
   * Sets the appliances. Appliances and operations with the same names as before keep their counters and their latest observations; an
   * appliance at another address is a new one. First polls are expected from the monotonic instant `nowMs` on. The state of an appliance
   * follows when it is next needed.
   */
  configure(config: Pick<Config, "appliances">, nowMs: number): void;
  /** Records an observation. One of an appliance or website that is gone changes nothing; `cluster` is the cluster of the appliance now. */
  record(
    observation: Observation,
    nowMs: number,
  ): { readonly changes: readonly FleetChange[]; readonly cluster: ClusterSnapshot | undefined };
  /** Returns the names of the clusters, in the order of the configuration; the same list until `configure`. */
  clusters(): readonly string[];
  /** Returns the facts about a cluster at the monotonic instant `nowMs`, expiry included; `undefined` if there is no such cluster. */
  cluster(name: string, nowMs: number): ClusterSnapshot | undefined;
  /** Returns the cluster of an appliance; `undefined` for an appliance that is gone. */
  clusterOf(appliance: string): string | undefined;
  /** Returns the monotonic instant at which the next operation of a cluster expires unless it is polled before; infinite if none does. */
  expiresAtMs(cluster: string): number;
  /** Returns the operations that are polled of an appliance, in the order in which they are polled for the first time. */
  operations(appliance: string): readonly Operation[];
  /** Whether the VRRP list of every appliance was polled. */
  isPolled(): boolean;
}

interface ConfiguredCluster extends Pick<ClusterSnapshot, "cluster" | "labels" | "disabled"> {
  /** The names of the enabled appliances. */
  readonly members: readonly string[];
}

export function createFleet(): Fleet {
  /** The facts follow the configuration when they are needed, since an update of all at once would delay polls. */
  const facts = new Map<string, ApplianceFacts>();
  let configured: ReadonlyMap<string, ApplianceConfig> = new Map();
  let configuredAtMs = 0;
  let clusters: ReadonlyMap<string, ConfiguredCluster> = new Map();
  let names: readonly string[] = [];

  /** Returns the last known facts, under the present configuration. */
  function factsOf(name: string): ApplianceFacts | undefined {
    const config = configured.get(name);
    const known = facts.get(name);
    if (config === undefined || known?.config === config) return known;
    const before = known !== undefined && isSameAppliance(known.config, config) ? known : undefined;
    const now = applianceFor(before, config, configuredAtMs);
    facts.set(name, now);
    return now;
  }

  function factsNow(name: string, nowMs: number): ApplianceFacts | undefined {
    const last = factsOf(name);
    const now = last && applianceAt(last, nowMs);
    if (now !== undefined && now !== last) facts.set(name, now);
    return now;
  }

  /** Makes a new snapshot when an appliance was polled or has stalled. */
  function snapshotOf(cluster: ConfiguredCluster, nowMs: number): ClusterSnapshot {
    const appliances = cluster.members
      .map((name) => factsNow(name, nowMs))
      .filter((appliance) => appliance !== undefined);
    return clusterSnapshot(cluster, { cluster, appliances });
  }

  return {
    configure: (config, nowMs) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      configured = new Map(enabled.map((appliance) => [appliance.name, appliance]));
      configuredAtMs = nowMs;
      for (const name of facts.keys()) if (!configured.has(name)) facts.delete(name);
      clusters = clustersOf(config.appliances, clusters);
      names = [...clusters.keys()];
    },
    record: (observation, nowMs) => {
      const before = factsNow(observation.appliance, nowMs);
      if (before === undefined) return { changes: [], cluster: undefined };
      const now = afterObservation(before, observation, nowMs);
      facts.set(observation.appliance, now);
      try {
        const of = clusters.get(now.identity.cluster);
        const cluster = of && snapshotOf(of, nowMs);
        return { changes: changesBetween(before, now, observation), cluster };
      } catch (error) {
        // Without this line, a bug would leave facts that make every later snapshot fail.
        facts.set(observation.appliance, before);
        throw error;
      }
    },
    clusters: () => names,
    cluster: (name, nowMs) => {
      const of = clusters.get(name);
      return of && snapshotOf(of, nowMs);
    },
    clusterOf: (appliance) => configured.get(appliance)?.cluster,
    expiresAtMs: (name) => {
      const members = clusters.get(name)?.members ?? [];
      return Math.min(...members.map((member) => factsOf(member)?.untilMs ?? Number.POSITIVE_INFINITY));
    },
    operations: (appliance) => {
      const of = factsOf(appliance);
      return of === undefined ? [] : operationsIn(of);
    },
    isPolled: () =>
      [...configured.keys()].every((name) => (factsOf(name)?.totals.counts.vrrp?.polls ?? 0) > 0),
  };
}

const clusterSnapshot = memo(
  (facts: {
    readonly cluster: ConfiguredCluster;
    readonly appliances: readonly ApplianceFacts[];
  }): ClusterSnapshot => {
    const { cluster: of, appliances } = facts;
    const { cluster, labels, disabled } = of;
    const isAlone = appliances.length + disabled.length < 2;
    const members = isAlone ? [] : appliances.map(({ vrrp }) => vrrp);
    const names = namesIn(of, { reports: members.map(({ seen }) => seen?.reports) });
    const { groups } = groupsIn(of, { names, members });
    const websites = websitesIn(of, { lists: appliances.map(({ known }) => known) });
    return { cluster, labels, appliances, disabled, groups, websites };
  },
);
const namesIn = memo(groupNames);
const groupsIn = memo(groupsOf);
const websitesIn = memo(clusterWebsites);

/** Returns the clusters by name. A cluster that is configured as before stays the same object. */
function clustersOf(
  appliances: readonly ApplianceConfig[],
  before: ReadonlyMap<string, ConfiguredCluster>,
): ReadonlyMap<string, ConfiguredCluster> {
  const byName = groupBy(appliances, ({ cluster }) => cluster);
  const clusters = Array.from(byName, ([cluster, all]): ConfiguredCluster => {
    const enabled = all.filter((appliance) => appliance.enabled);
    const disabled = all.filter((appliance) => !appliance.enabled);
    return kept(before.get(cluster), {
      cluster,
      labels: sharedLabels((enabled.length > 0 ? enabled : disabled).map(({ labels }) => labels)),
      members: enabled.map(({ name }) => name),
      disabled: disabled.map((each) => ({ kind: "disabled", identity: identityOf(each) })),
    });
  });
  return new Map(clusters.map((each) => [each.cluster, each]));
}

function sharedLabels([first = {}, ...others]: readonly Identity["labels"][]): Identity["labels"] {
  const shared = Object.entries(first).filter(([key, value]) => others.every((of) => of[key] === value));
  return Object.fromEntries(shared);
}
