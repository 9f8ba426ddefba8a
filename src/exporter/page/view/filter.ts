import type { ClusterDocument, FleetDocument } from "../../document/schema.ts";
import { once } from "../../../support/kept.ts";
import { inSlices } from "../../../support/slices.ts";
import type { JudgedCluster } from "../../view/headline.ts";
import { hasId } from "../../view/incident-facts.ts";
import { count, printable } from "../../../support/text.ts";
import { html, nothing, type Html } from "./html.ts";
import { TIMELINES } from "./timelines.ts";

/** The length in UTF-16 units. Each word is searched in all that is known about every cluster. */
const MAX_TEXT = 200;
/** The most labels that the page offers; the others are found by their text. */
const OFFERED = 6;

/** The filter of the page, by names as the page shows them. An empty text filters nothing. */
export interface Filter {
  /** The words that must all occur in what is known about a cluster. */
  readonly text: string;
  readonly cluster: string;
  /** The label `name=value` of a cluster or of one of its appliances. */
  readonly label: string;
  /** Whether only clusters with problems are shown. */
  readonly only: "" | "problems";
  /** The id of an incident, which the page shows open, whatever else matches. */
  readonly incident: string;
  /** The id of a problem, whose cluster is open and whose rows are marked, whatever else matches. */
  readonly problem: string;
  /** The time that the strips show: 24 hours, or 30 days. It filters nothing. */
  readonly timelines: "" | "month";
  /** The wall has a tile for each cluster. It filters nothing. */
  readonly view: "" | "wall";
}

export function readFilter(query: URLSearchParams): Filter {
  const get = (name: string): string => printable(query.get(name) ?? "").trim();
  const short = (name: string): string => get(name).slice(0, MAX_TEXT);
  return {
    text: short("text"),
    cluster: get("cluster"),
    label: get("label"),
    only: get("only") === "problems" ? "problems" : "",
    incident: short("incident"),
    problem: short("problem"),
    timelines: get("timelines") === "month" ? "month" : "",
    view: get("view") === "wall" ? "wall" : "",
  };
}

/** Returns the address of the page, relative to itself, from which `readFilter` reads the filter. */
export function addressOf(filter: Filter): string {
  return `?${new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "")).toString()}`;
}

/** Returns whether the filter hides clusters. */
export function isNarrowing({ text, cluster, label, only }: Filter): boolean {
  return [text, cluster, label, only].some((value) => value !== "");
}

export interface Shown extends Pick<FleetDocument, "problems" | "incidents"> {
  readonly clusters: readonly JudgedCluster[];
}

/** Keeps the matching clusters with their problems and incidents, in slices. Problems without a cluster stay. */
export async function applyFilter(shown: Shown, filter: Filter): Promise<Shown> {
  if (!isNarrowing(filter)) return shown;
  const clusters: JudgedCluster[] = [];
  await inSlices(shown.clusters, (each) => {
    if (matches(each, filter)) clusters.push(each);
  });
  const names = new Set(clusters.map(({ cluster }) => cluster.name));
  const isMatching = (cluster: string): boolean => names.has(cluster);
  return {
    clusters,
    problems: shown.problems.filter(({ cluster }) => cluster === undefined || isMatching(cluster)),
    incidents: shown.incidents.filter((each) => isMatching(each.cluster) || hasId(each, filter.incident)),
  };
}

function matches(
  { cluster, problems }: JudgedCluster,
  { text, cluster: name, label, only }: Filter,
): boolean {
  if (name !== "" && printable(cluster.name) !== name) return false;
  if (label !== "" && !labelsOf(cluster).includes(label)) return false;
  if (only === "problems" && problems.length === 0 && cluster.level === "well") return false;
  const known = [textOf(cluster), ...problems.map(({ summary }) => printable(summary).toLowerCase())];
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => known.some((one) => one.includes(word)));
}

/** Returns the labels of a cluster and of its appliances, as `name=value`. */
function labelsOf(cluster: ClusterDocument): readonly string[] {
  return [cluster, ...cluster.appliances].flatMap(({ labels }) => pairsIn(labels));
}

const pairsIn = once((labels: ClusterDocument["labels"]): readonly string[] =>
  Object.entries(labels).map(([name, value]) => printable(`${name}=${value}`)),
);

/** Returns everything that is known about a cluster, in lower case. */
const textOf = once((cluster: ClusterDocument): string => {
  const { groups, websites, appliances } = cluster;
  const interfaces = appliances.flatMap((one) => one.interfaces ?? []);
  const texts = [
    ...[cluster, ...websites, ...appliances, ...interfaces].map(({ name }) => name),
    ...[...groups, ...interfaces].map(({ vip }) => vip),
    ...interfaces.map(({ device }) => device),
    ...appliances.map(({ poll }) => poll?.reason ?? ""),
    ...labelsOf(cluster),
  ];
  return printable(texts.join("\n")).toLowerCase();
});

/** Returns the field, which keeps the rest of the filter, and links to what else it can show. */
export function filterForm({ clusters, problems }: FleetDocument, filter: Filter): Html {
  const { text, ...kept } = filter;
  const hidden = Object.entries(kept).map(([name, value]) => {
    return value === "" ? nothing : html`<input type="hidden" name="${name}" value="${value}" />`;
  });
  const all = { ...filter, only: "" as const, label: "", cluster: "" };
  const chip = (words: string, to: Filter, isChosen: boolean) =>
    html`<a class="chip" href="${addressOf(to)}" ${isChosen ? html`aria-current="true"` : nothing}
      >${words}</a
    > `;
  const scales = (["", "month"] as const).map((timelines) => {
    return chip(
      TIMELINES[timelines === "" ? "day" : timelines].short,
      { ...filter, timelines },
      timelines === filter.timelines,
    );
  });
  const isAll = filter.only === "" && filter.label === "" && filter.cluster === "";
  return html`<div class="bar">
    <form id="filter" role="search" aria-label="Filter">
      <label class="hidden-visually" for="search">Search</label>
      <input
        id="search"
        type="search"
        name="text"
        value="${text}"
        placeholder="Search /"
        autocomplete="off"
        spellcheck="false"
      />
      ${hidden}<button type="submit">Filter</button>
    </form>
    <nav class="chips" aria-label="Clusters to show">
      ${problems.length === 0 ? nothing : chip(`Problems ${problems.length}`, { ...all, only: "problems" }, filter.only !== "")}
      ${chip(`All ${clusters.length}`, all, isAll)}
      ${filter.cluster === "" ? nothing : chip(filter.cluster, filter, true)}
      ${offered(clusters, filter.label).map((label) => chip(label, { ...all, label }, label === filter.label))}
      ${text === "" && isAll ? nothing : html`<a class="clear" href="?">Show everything</a>`}
    </nav>
    <nav class="chips scales" aria-label="Time that the strips show">${scales}</nav>
  </div>`;
}

/** Returns the labels that are offered: those of the most clusters that not all of them have, and the chosen one. */
function offered(clusters: readonly ClusterDocument[], chosen: string): readonly string[] {
  const numbers = new Map<string, number>();
  for (const label of clusters.flatMap((each) => [...new Set(labelsOf(each))]))
    numbers.set(label, (numbers.get(label) ?? 0) + 1);
  const useful = [...numbers].filter(([label, number]) => number < clusters.length && label !== chosen);
  const most = useful.toSorted(([, one], [, other]) => other - one).slice(0, OFFERED);
  const labels = most.map(([label]) => label).toSorted();
  return chosen === "" ? labels : [chosen, ...labels];
}

/** Returns how many clusters match; nothing if all do. */
export function matchNote(matching: number, all: number): Html {
  if (matching === all) return nothing;
  if (matching === 0) return html`No cluster matches the filter.`;
  return html`${matching} of ${count(all, "cluster")} match the filter.`;
}
