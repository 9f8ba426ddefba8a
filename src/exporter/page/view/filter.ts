import type { ClusterDocument, FleetDocument } from "../../document/schema.ts";
import { once } from "../../../support/kept.ts";
import { inSlices } from "../../../support/slices.ts";
import type { JudgedCluster } from "../../view/headline.ts";
import { hasId } from "../../view/incident-facts.ts";
import { count, printable } from "../../../support/text.ts";
import { html, nothing, type Html } from "./html.ts";
import { keyedId } from "./parts.ts";
import { TIMELINES } from "./timelines.ts";

/** The length in UTF-16 units. Each word is searched in all that is known about every cluster. */
const MAX_TEXT = 200;

/** The filter of the page, by names as the page shows them. An empty text filters nothing. */
export interface Filter {
  /** The words that must all occur in what is known about a cluster. */
  readonly text: string;
  readonly cluster: string;
  /** The label `name=value` of a cluster or of one of its appliances. */
  readonly label: string;
  /** The id of an incident, which the page shows open, whatever else matches. */
  readonly incident: string;
  /** The time that the strips show: 24 hours, or 30 days. It filters nothing. */
  readonly timelines: "" | "month";
}

export function readFilter(query: URLSearchParams): Filter {
  const get = (name: string): string => printable(query.get(name) ?? "").trim();
  const [text, incident] = [get("text").slice(0, MAX_TEXT), get("incident").slice(0, MAX_TEXT)];
  const timelines = get("timelines") === "month" ? "month" : "";
  return { text, cluster: get("cluster"), label: get("label"), incident, timelines };
}

/** Returns the query of a URL from which `readFilter` reads the filter. */
export function queryOf(filter: Filter): URLSearchParams {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ""));
}

function isNarrowing({ text, cluster, label, incident }: Filter): boolean {
  return [text, cluster, label, incident].some((value) => value !== "");
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
  return {
    clusters,
    problems: shown.problems.filter(({ cluster }) => cluster === undefined || names.has(cluster)),
    incidents: shown.incidents.filter((each) => names.has(each.cluster) || hasId(each, filter.incident)),
  };
}

function matches({ cluster, problems }: JudgedCluster, { text, cluster: name, label }: Filter): boolean {
  if (name !== "" && printable(cluster.name) !== name) return false;
  if (label !== "" && !labelsOf(cluster).includes(label)) return false;
  const known = [textOf(cluster), ...problems.map(({ summary }) => printable(summary).toLowerCase())];
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => known.some((one) => one.includes(word)));
}

/** Returns the labels of a cluster and of its appliances, as `name=value`. */
const labelsOf = once((cluster: ClusterDocument): readonly string[] =>
  [cluster, ...cluster.appliances].flatMap(({ labels }) =>
    Object.entries(labels).map(([name, value]) => printable(`${name}=${value}`)),
  ),
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

/**
 * Returns the form, whose key identifies it with its whole content. It has no fields if the browser has this form, since the fields are
 * most of a large fleet's page.
 */
export function filterForm(clusters: readonly ClusterDocument[], filter: Filter, keyInBrowser: string): Html {
  const names = clusters.map(({ name }) => printable(name));
  const labels = [...new Set(clusters.flatMap(labelsOf))].toSorted();
  const key = keyedId("filter", [names, labels, filter]);
  const fields = key === keyInBrowser ? nothing : filterFields(names, labels, filter);
  return html`<form id="filter" data-key="${key}" role="search" aria-label="Filter">${fields}</form>`;
}

function filterFields(names: readonly string[], labels: readonly string[], filter: Filter): Html {
  return html`<label class="field">
      <span class="note">Search</span>
      <input type="search" name="text" value="${filter.text}" autocomplete="off" spellcheck="false" />
    </label>
    ${choice("Cluster", "cluster", names, filter.cluster)}
    ${labels.length === 0 ? nothing : choice("Label", "label", labels, filter.label)}
    <label class="field">
      <span class="note">Timelines</span>
      <select name="timelines">
        ${option("", TIMELINES.day, false)} ${option("month", TIMELINES.month, filter.timelines === "month")}
      </select>
    </label>
    ${filter.incident === "" ? nothing : html`<input type="hidden" name="incident" value="${filter.incident}" />`}
    <button type="submit">Filter</button>
    <a class="clear" href="?" ${isNarrowing(filter) ? nothing : html`hidden`}>Show everything</a>`;
}

function choice(title: string, name: string, values: readonly string[], chosen: string): Html {
  // The chosen value may no longer exist; the filter still applies.
  const all = chosen === "" || values.includes(chosen) ? values : [chosen, ...values];
  const options = all.map((value) => option(value, value, value === chosen));
  return html`<label class="field">
    <span class="note">${title}</span>
    <select name="${name}">
      <option value="">All</option>
      ${options}
    </select>
  </label>`;
}

function option(value: string, words: string, isChosen: boolean): Html {
  return html`<option value="${value}" ${isChosen ? html`selected` : nothing}>${words}</option>`;
}

/** Returns how many clusters match; nothing if all do. */
export function matchNote(matching: number, all: number): Html {
  if (matching === all) return nothing;
  if (matching === 0) return html`No cluster matches the filter.`;
  return html`${matching} of ${count(all, "cluster")} match the filter.`;
}
