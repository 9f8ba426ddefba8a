import type { ApplianceDocument, ClusterDocument, FleetDocument, Problem } from "../../../status/schema.ts";

/** What a page is narrowed to; an empty text narrows nothing. */
export interface Filter {
  /** Words, each of which must occur in a cluster, in whatever is known of it. */
  readonly text: string;
  /** A cluster's name. */
  readonly cluster: string;
  /** `name=value`, of a cluster or of one of its appliances. */
  readonly label: string;
}

export const EVERYTHING: Filter = { text: "", cluster: "", label: "" };

/** From the query of a URL; unknown parameters are left alone. */
export function readFilter(query: URLSearchParams): Filter {
  const get = (name: string): string => (query.get(name) ?? "").trim();
  return { text: get("text"), cluster: get("cluster"), label: get("label") };
}

/** The same as a query: `?cluster=ams`; `?` alone where nothing is narrowed. */
export function formatFilter({ text, cluster, label }: Filter): string {
  const given = Object.entries({ text, cluster, label }).filter(([, value]) => value !== "");
  return `?${new URLSearchParams(given).toString()}`;
}

export function isNarrowing(filter: Filter): boolean {
  return Object.values(filter).some((value) => value !== "");
}

/** Whole clusters, since a group is understood with all its members, with their problems and events. What concerns no cluster stays. */
export function applyFilter(document: FleetDocument, filter: Filter): FleetDocument {
  if (!isNarrowing(filter)) return document;
  const clusters = document.clusters.filter((cluster) => matches(cluster, document.problems, filter));
  const names = new Set(clusters.map(({ name }) => name));
  return {
    ...document,
    clusters,
    problems: document.problems.filter(({ cluster }) => cluster === undefined || names.has(cluster)),
    events: document.events.filter(({ cluster }) => names.has(cluster)),
  };
}

/** How many problems and events of a document a filter keeps out; `shown`: what it leaves. */
export function keptOut(
  whole: FleetDocument,
  shown: FleetDocument,
): Readonly<Record<"problems" | "events", number>> {
  return {
    problems: whole.problems.length - shown.problems.length,
    events: whole.events.length - shown.events.length,
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

/** Those of a cluster and of its appliances, as `name=value`. */
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
    ...problems.filter((problem) => problem.cluster === cluster.name).map(({ summary }) => summary),
  ].join("\n");
}

function textsOfAppliance({ name, poll, interfaces = [] }: ApplianceDocument): readonly string[] {
  return [name, poll.reason ?? "", ...interfaces.flatMap((one) => [one.name, one.vip, one.device])];
}
