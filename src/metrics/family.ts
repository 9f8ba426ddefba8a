import type { Identity, Section } from "../fleet/snapshot.ts";

/** A metric family of the fleet: what it is called, what it means, and which samples a section of the snapshot gives. */
export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter";
  /** One line. */
  readonly help: string;
  readonly samples: {
    readonly [S in Section as S["kind"]]?: (section: S) => readonly Sample[];
  };
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

/** One sample, or none where the value is not known or no number. */
export function sample(labels: Labels, value: number | undefined): readonly Sample[] {
  return value === undefined || Number.isNaN(value) ? [] : [{ labels, value }];
}

export const asSeconds = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : ms / 1000;
export const asBit = (fact: boolean): number => (fact ? 1 : 0);
