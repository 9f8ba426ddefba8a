import type { FleetDocument } from "../../../status/schema.ts";
import { isNarrowing, labelsOf, type Filter } from "./filter.ts";
import { html, nothing, type Html } from "./html.ts";
import { distinct } from "./words.ts";

/** Works by itself, with a button; a script makes the button needless. */
export function filterForm({ clusters }: FleetDocument, filter: Filter): Html {
  const names = clusters.map(({ name }) => name);
  const labels = distinct(clusters.flatMap(labelsOf)).toSorted();
  return html`<form class="filter" role="search" aria-label="Filter" method="get">
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
  // What is asked for may be gone by now; it is still what is asked for.
  const all = chosen === "" || values.includes(chosen) ? values : [chosen, ...values];
  return html`<label class="field">
    <span>${title}</span>
    <select name="${name}">
      <option value="">All</option>
      ${all.map((value) => option(value, chosen))}
    </select>
  </label>`;
}

function option(value: string, chosen: string): Html {
  return value === chosen
    ? html`<option value="${value}" selected>${value}</option>`
    : html`<option value="${value}">${value}</option>`;
}
