import type { Section } from "../fleet/snapshot.ts";
import type {
  ApplianceVerdict,
  ClusterVerdict,
  DifferencesVerdict,
  GroupVerdict,
  WebsiteVerdict,
} from "../status/verdict.ts";

/** Facts and verdicts that are rendered once for as long as they stay the same object. */
export type Part =
  | Section
  | ApplianceVerdict
  | GroupVerdict
  | WebsiteVerdict
  | DifferencesVerdict
  | ClusterVerdict;

/** A metric family of the fleet: what it is called, what it means, and which samples facts and verdicts give. */
export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter";
  /** One line. */
  readonly help: string;
  readonly samples: {
    readonly [P in Part as P["kind"]]?: (part: P) => readonly Sample[];
  };
}

export const gauge = (name: string, help: string, samples: Family["samples"]): Family => {
  return { name, type: "gauge", help, samples };
};
export const counter = (name: string, help: string, samples: Family["samples"]): Family => {
  return { name, type: "counter", help, samples };
};

export interface Sample {
  /** Beside `commonLabels`; names unique, values not escaped. */
  readonly labels: Labels;
  /** The last label, `state`; a constant that needs no escaping. */
  readonly state?: string;
  readonly value: number;
}

export type Labels = readonly (readonly [name: string, value: string])[];

/** The labels that every series of an appliance or a cluster begins with. */
export function commonLabels(part: Part): Labels {
  if ("identity" in part) {
    const { appliance, cluster, labels } = part.identity;
    return [["appliance", appliance], ["ha_cluster", cluster], ...Object.entries(labels)];
  }
  const { cluster, labels } = part.kind === "cluster" ? part.facts : part;
  return [["ha_cluster", cluster], ...Object.entries(labels)];
}

/** A sample for each state: 1 for the present one, 0 for all others; none while there is no state. */
export function stateSamples<State extends string>(
  labels: Labels,
  states: readonly State[],
  present: State | undefined,
): readonly Sample[] {
  if (present === undefined) return [];
  return states.map((state) => ({ labels, state, value: asBit(state === present) }));
}

/** Makes something of an object, and not again of the same one in a row. */
export function onceInARow<T extends object, U>(make: (of: T) => U): (of: T) => U {
  let latest: { readonly of: WeakRef<T>; readonly made: U } | undefined;
  return (of) => {
    if (latest?.of.deref() !== of) latest = { of: new WeakRef(of), made: make(of) };
    return latest.made;
  };
}

/** The labels of a group's series. */
export const groupLabels = onceInARow(({ facts: { vhid, vip } }: GroupVerdict): Labels => [
  ["vhid", String(vhid)],
  ["vip", vip],
]);

/** The labels of a website's series. */
export const websiteLabels = onceInARow((of: { websiteId: number; website: string }): Labels => [
  ["website_id", String(of.websiteId)],
  ["website", of.website],
]);

/** One sample, or none where the value is not known or no number. */
export function sample(labels: Labels, value: number | undefined): readonly Sample[] {
  return value === undefined || Number.isNaN(value) ? [] : [{ labels, value }];
}

export const asSeconds = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : ms / 1000;

export function asBit(fact: boolean): number;
export function asBit(fact: boolean | undefined): number | undefined;
export function asBit(fact: boolean | undefined): number | undefined {
  return fact === undefined ? undefined : Number(fact);
}
