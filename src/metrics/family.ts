import type { ClusterSnapshot, GroupSnapshot, Identity, Section } from "../fleet/snapshot.ts";

type SampledSection = Exclude<Section, ClusterSnapshot>;

/** A metric family of the fleet: what it is called, what it means, and which samples a section of the snapshot gives. */
export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter";
  /** One line. */
  readonly help: string;
  readonly samples: {
    readonly [S in SampledSection as S["kind"]]?: (section: S) => readonly Sample[];
  };
  /** The value of a VRRP group, where it has one. */
  readonly group?: (group: GroupSnapshot) => number | undefined;
}

export interface Sample {
  /** Names unique; values not escaped. */
  readonly labels: Labels;
  readonly value: number;
}

export type Labels = readonly (readonly [name: string, value: string])[];

/** The labels that every series of an appliance begins with. */
export function identityLabels({ appliance, cluster, labels }: Identity): Labels {
  return [["appliance", appliance], ["ha_cluster", cluster], ...Object.entries(labels)];
}

/** Makes something of an object, and not again of the same one in a row. */
export function onceInARow<T extends object, U>(make: (of: T) => U): (of: T) => U {
  let latest: { readonly of: WeakRef<T>; readonly made: U } | undefined;
  return (of) => {
    if (latest?.of.deref() !== of) latest = { of: new WeakRef(of), made: make(of) };
    return latest.made;
  };
}

/** One sample, or none where the value is not known or no number. */
export function sample(labels: Labels, value: number | undefined): readonly Sample[] {
  return value === undefined || Number.isNaN(value) ? [] : [{ labels, value }];
}

export const asSeconds = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : ms / 1000;
export const asBit = (fact: boolean): number => (fact ? 1 : 0);
