import { websiteKey } from "../fleet/cluster-websites.ts";
import type { OfWebsite } from "../fleet/snapshot.ts";
import type { Problem } from "../judge/problem.ts";
import { plannedProblems } from "../judge/problems.ts";
import type { ClusterVerdict } from "../judge/verdict.ts";
import { incidentDocument } from "../story/incident-document.ts";
import type { ClusterIncidents, Incident } from "../story/incident.ts";
import { memo } from "../../support/kept.ts";

/** Returns the facts and verdicts of a cluster, in the order of the configuration. A part keeps its place while others are unknown. */
export function partsOf(verdict: ClusterVerdict, incidents: ClusterIncidents | undefined) {
  const { facts, appliances, groups, websites, readiness } = verdict;
  return [
    ...appliances.values(),
    ...websites.values(),
    ...groups.values(),
    ...readiness.values(),
    ...facts.disabled,
    ...facts.appliances.flatMap(({ vrrp, websites: tests, totals, discovery, inventory, anomalies }) => [
      vrrp,
      vrrp.found?.list,
      ...tests.flatMap((test) => [test, test.found]),
      discovery,
      ...inventory.found,
      anomalies,
      totals,
    ]),
    incidents,
    verdict.planned,
    toldOf(verdict, { verdict, incidents }),
    verdict,
  ];
}

/**
 * What alerts tell of a cluster: its problems that are not planned, without those that are the exporter's own fault, and its recent
 * failovers.
 */
interface ToldInCluster extends Pick<ClusterVerdict["facts"], "cluster" | "labels"> {
  readonly kind: "told";
  readonly problems: readonly (Problem & { readonly incident: string | undefined })[];
  readonly failovers: readonly {
    readonly to: string;
    readonly incident: ReturnType<typeof incidentDocument>;
  }[];
}

interface ToldInputs {
  readonly verdict: ClusterVerdict;
  readonly incidents: ClusterIncidents | undefined;
}

/** Returns the same object while the verdict and the incidents are the same; `undefined` if there is nothing to tell. */
const toldOf = memo(({ verdict, incidents }: ToldInputs): ToldInCluster | undefined => {
  const { cluster, labels } = verdict.facts;
  const { all = [], recent = [] } = incidents ?? {};
  const problems = plannedProblems(verdict)
    .filter(({ isPlanned, kind }) => isPlanned !== true && kind !== "polling_stuck")
    .map((problem) => ({ ...problem, incident: incidentOf(problem, all)?.id }));
  const failovers = recent.flatMap((incident) => {
    const { to } = incident.failover?.latest ?? {};
    return to === undefined ? [] : [{ to, incident: incidentDocument(incident) }];
  });
  const isNothing = problems.length + failovers.length === 0;
  return isNothing ? undefined : { kind: "told", cluster, labels, problems, failovers };
});

/** Returns the incident that a problem is part of: the latest one that is open for a subject of the problem. */
function incidentOf({ keys = [] }: Problem, all: readonly Incident[]): Incident | undefined {
  return all.findLast(({ open }) => keys.some((key) => open.has(key)));
}

/** A part of a verdict, which is rendered once for as long as it stays the same object. */
export type Part = NonNullable<ReturnType<typeof partsOf>[number]>;

export type PartOfKind<Kind extends Part["kind"]> = Extract<Part, { readonly kind: Kind }>;

/** The keys are names, in the order of the exposition. */
export type Families = Readonly<Record<string, Family>>;

/** A metric family of the fleet: its meaning, and its samples of facts and verdicts. */
export interface Family {
  readonly type: "gauge" | "counter";
  /** The help text, which is one line. */
  readonly help: string;
  readonly samples: { readonly [P in Part as P["kind"]]?: (part: P) => readonly Sample[] };
}

export function gauge(help: string, samples: Family["samples"]): Family {
  return { type: "gauge", help, samples };
}

export function counter(help: string, samples: Family["samples"]): Family {
  return { type: "counter", help, samples };
}

export interface Sample {
  /** The labels besides the result of `labelsOf`; not escaped. */
  readonly labels: Labels;
  readonly value: number;
}

type Label = readonly [name: string, value: string];
export type Labels = readonly Label[];

/** Returns the labels with which every series of a part begins: its owner, as configured, and its subject. */
export function labelsOf(part: Part): Labels {
  return [...ownerOf(part), ...subjectOf(part)];
}

function ownerOf(part: Part): Labels {
  if ("identity" in part) {
    const { appliance, cluster, labels } = part.identity;
    return [["appliance", appliance], ["ha_cluster", cluster], ...Object.entries(labels)];
  }
  const { cluster, labels } = part.kind === "cluster" ? part.facts : part;
  return [["ha_cluster", cluster], ...Object.entries(labels)];
}

function subjectOf(part: Part): Labels {
  if (part.kind === "group") return [...groupLabels(part.facts), ["interface", part.facts.interface]];
  if (!("websiteId" in part)) return [];
  const website: Labels = [
    ["website_id", String(part.websiteId)],
    ["website", part.website],
  ];
  return part.kind === "website_test" ? [["operation", part.kind], ...website] : website;
}

/** Returns the labels by which the text of an alert finds each appliance's facts about a website. */
export const addressLabels = (website: OfWebsite): Labels => [
  ["address", websiteKey(website, website.address)],
];

export function groupLabels({ vhid, vip }: { readonly vhid: number; readonly vip: string }): Labels {
  return [
    ["vhid", String(vhid)],
    ["vip", vip],
  ];
}

/** The value of a sample. A fact is 1 or 0. */
export type SampleValue = number | boolean | undefined;

/** Returns one sample with these further labels, or none if the value is not known or no number. */
export function sample(value: SampleValue, ...labels: Labels): readonly Sample[] {
  const number = Number(value);
  return Number.isNaN(number) ? [] : [{ labels, value: number }];
}

/** Returns a sample for each state: 1 for the present one, 0 for all others; none while there is no state. */
export function stateSamples<State extends string>(
  states: readonly State[],
  present: State | undefined,
  ...labels: Labels
): readonly Sample[] {
  if (present === undefined) return [];
  return states.flatMap((state) => sample(state === present, ...labels, ["state", state]));
}

export const asSeconds = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : ms / 1000;
