import type { ApplianceDocument, ClusterDocument, FleetDocument, Problem } from "../../status/schema.ts";
import { problemsByCluster } from "./levels.ts";

/** What the page is narrowed to. An empty text narrows nothing. */
export interface Filter {
  /** Words that must all occur in what is known about a cluster. */
  readonly text: string;
  /** A cluster's name. */
  readonly cluster: string;
  /** `name=value`, of a cluster or of one of its appliances. */
  readonly label: string;
}

export const EVERYTHING: Filter = { text: "", cluster: "", label: "" };

/** From the query of a URL. */
export function readFilter(query: URLSearchParams): Filter {
  const get = (name: string): string => (query.get(name) ?? "").trim();
  return { text: get("text"), cluster: get("cluster"), label: get("label") };
}

export function isNarrowing(filter: Filter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** Keeps the matching clusters with their problems and events. Problems without a cluster stay. */
export function applyFilter(document: FleetDocument, filter: Filter): FleetDocument {
  if (!isNarrowing(filter)) return document;
  const problems = problemsByCluster(document.problems);
  const clusters = document.clusters.filter((each) => matches(each, problems.get(each.name) ?? [], filter));
  const names = new Set(clusters.map(({ name }) => name));
  return {
    ...document,
    clusters,
    problems: document.problems.filter(({ cluster }) => cluster === undefined || names.has(cluster)),
    events: document.events.filter(({ cluster }) => names.has(cluster)),
  };
}

function matches(
  cluster: ClusterDocument,
  problems: readonly Problem[],
  { text, cluster: name, label }: Filter,
): boolean {
  if (name !== "" && cluster.name !== name) return false;
  if (label !== "" && !labelsOf(cluster).includes(label)) return false;
  if (text === "") return true;
  const known = textOf(cluster, problems).toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => known.includes(word));
}

/** The labels of a cluster and of its appliances, as `name=value`. */
export function labelsOf({ labels, appliances }: ClusterDocument): readonly string[] {
  return [labels, ...appliances.map((appliance) => appliance.labels)].flatMap((each) =>
    Object.entries(each).map(([name, value]) => `${name}=${value}`),
  );
}

function textOf(cluster: ClusterDocument, problems: readonly Problem[]): string {
  return [
    cluster.name,
    ...labelsOf(cluster),
    ...cluster.groups.map(({ vip }) => vip),
    ...cluster.websites.map(({ name }) => name),
    ...cluster.appliances.flatMap(textsOfAppliance),
    ...problems.map(({ summary }) => summary),
  ].join("\n");
}

function textsOfAppliance({ name, poll, interfaces = [] }: ApplianceDocument): readonly string[] {
  return [name, poll.reason ?? "", ...interfaces.flatMap((one) => [one.name, one.vip, one.device])];
}
