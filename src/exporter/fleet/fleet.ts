import type { ApplianceConfig, Config } from "../config/config.ts";
import type { PollPlan } from "../api/operation.ts";
import type { Observation } from "../polling/observation.ts";
import { groupBy } from "../../support/group-by.ts";
import { kept, memo } from "../../support/kept.ts";
import {
  afterObservation,
  applianceAt,
  applianceFor,
  identityOf,
  type ApplianceRecord,
} from "./appliance-record.ts";
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
  /** Returns the plan of an appliance's polls. */
  plan(appliance: string): PollPlan;
  /** Whether the VRRP list of every appliance was polled. */
  isPolled(): boolean;
}

interface ConfiguredCluster extends Pick<ClusterSnapshot, "cluster" | "labels" | "disabled"> {
  /** The names of the enabled appliances. */
  readonly members: readonly string[];
}

export function createFleet(): Fleet {
  /** The records follow the configuration when they are needed, since an update of all at once would delay polls. */
  const records = new Map<string, ApplianceRecord>();
  let configured: ReadonlyMap<string, ApplianceConfig> = new Map();
  let configuredAtMs = 0;
  let clusters: ReadonlyMap<string, ConfiguredCluster> = new Map();
  let names: readonly string[] = [];

  /** Returns the last known record, under the present configuration. */
  function recordOf(name: string): ApplianceRecord | undefined {
    const config = configured.get(name);
    const known = records.get(name);
    if (config === undefined || known?.config === config) return known;
    // An appliance at another address is a new one.
    const before = known?.config.baseUrl === config.baseUrl ? known : undefined;
    const now = applianceFor(before, config, configuredAtMs);
    records.set(name, now);
    return now;
  }

  function recordNow(name: string, nowMs: number): ApplianceRecord | undefined {
    const last = recordOf(name);
    const now = last && applianceAt(last, nowMs);
    if (now !== undefined && now !== last) records.set(name, now);
    return now;
  }

  /** Makes a new snapshot when an appliance was polled or has stalled. */
  function snapshotOf(cluster: ConfiguredCluster, nowMs: number): ClusterSnapshot {
    const appliances = cluster.members.flatMap((name) => recordNow(name, nowMs) ?? []);
    return clusterSnapshot(cluster, { cluster, appliances });
  }

  return {
    configure: (config, nowMs) => {
      const enabled = config.appliances.filter((appliance) => appliance.enabled);
      configured = new Map(enabled.map((appliance) => [appliance.name, appliance]));
      configuredAtMs = nowMs;
      for (const name of records.keys()) if (!configured.has(name)) records.delete(name);
      clusters = clustersOf(config.appliances, clusters);
      names = [...clusters.keys()];
    },
    record: (observation, nowMs) => {
      const before = recordNow(observation.appliance, nowMs);
      if (before === undefined) return { changes: [], cluster: undefined };
      const now = afterObservation(before, observation, nowMs);
      records.set(observation.appliance, now);
      try {
        const of = clusters.get(now.identity.cluster);
        const cluster = of && snapshotOf(of, nowMs);
        return { changes: changesBetween(before, now, observation), cluster };
      } catch (error) {
        // Without this line, a bug would leave a record that makes every later snapshot fail.
        records.set(observation.appliance, before);
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
      return Math.min(...members.map((member) => recordOf(member)?.untilMs ?? Number.POSITIVE_INFINITY));
    },
    plan: (appliance) => {
      const { records: discovery, websites = [] } = recordOf(appliance) ?? {};
      const details = [...(discovery?.details.keys() ?? [])];
      const tests = websites.map(({ websiteId }) => websiteId);
      return { isDiscovering: discovery !== undefined, details, tests };
    },
    isPolled: () =>
      [...configured.keys()].every((name) => (recordOf(name)?.totals.counts.vrrp?.polls ?? 0) > 0),
  };
}

const clusterSnapshot = memo(
  (facts: {
    readonly cluster: ConfiguredCluster;
    readonly appliances: readonly ApplianceRecord[];
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
