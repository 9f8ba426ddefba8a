import type { FleetDocument } from "../../status/schema.ts";
import { isNarrowing, labelsOf, type Filter } from "./filter.ts";
import { html, nothing, type Html } from "./html.ts";
import { count, distinct } from "./words.ts";

/** A form with a button, which the script makes unnecessary. */
export function filterForm({ clusters }: FleetDocument, filter: Filter): Html {
  const names = clusters.map(({ name }) => name);
  const labels = distinct(clusters.flatMap(labelsOf)).toSorted();
  return html`<form id="filter" class="filter" role="search" aria-label="Filter" method="get">
    <label class="field wide">
      <span>Search</span>
      <input
        type="search"
        name="text"
        value="${filter.text}"
        placeholder="name, address, website, reason"
        autocomplete="off"
        spellcheck="false"
      />
    </label>
    ${choice("Cluster", "cluster", names, filter.cluster)}
    ${labels.length === 0 ? nothing : choice("Label", "label", labels, filter.label)}
    <button type="submit">Filter</button>
    <a class="clear" href="?" ${isNarrowing(filter) ? nothing : html`hidden`}>Show everything</a>
  </form>`;
}

function choice(title: string, name: string, values: readonly string[], chosen: string): Html {
  // The chosen value may no longer exist; the filter still applies.
  const all = chosen === "" || values.includes(chosen) ? values : [chosen, ...values];
  return html`<label class="field">
    <span>${title}</span>
    <select name="${name}">
      <option value="">All</option>
      ${all.map((value) => option(value, value === chosen))}
    </select>
  </label>`;
}

function option(value: string, isChosen: boolean): Html {
  return html`<option value="${value}" ${isChosen ? html`selected` : nothing}>${value}</option>`;
}

/** How many clusters match; nothing if all do. */
export function matchNote(matching: number, all: number): Html {
  if (matching === all) return nothing;
  if (matching === 0) return html`No cluster matches the filter.`;
  return html`${matching} of ${count(all, "cluster")} match the filter.`;
}

/** How many problems or events the filter excludes, with a link to all; nothing if there are none. */
export function outsideFilter(hidden: number, noun: string): Html {
  if (hidden === 0) return nothing;
  return html`<p class="note">${count(hidden, noun)} outside the filter. <a href="?">Show everything</a></p>`;
}
