import type { IncidentDocument } from "../../document/schema.ts";
import { alertOf } from "../../judge/states.ts";
import { shortened } from "../../judge/words.ts";
import {
  hasId,
  incidentFacts,
  incidentLevel,
  incidentState,
  severityWords,
} from "../../view/incident-facts.ts";
import { absoluteTime } from "../../view/time.ts";
import { queryOf, type Filter } from "./filter.ts";
import { html, nothing, type Html } from "./html.ts";
import { absolute, clusterId, disclosure, mark, more, relative, runbookLink, type Reader } from "./parts.ts";

/** This many incidents are always shown; the reader can open the others. */
const SHOWN = 8;
/** The length in UTF-16 units. A link to another incident has the beginning of its sentence. */
const MAX_LINK = 160;

interface IncidentsReader extends Reader {
  readonly filter: Filter;
}

/** Returns a list of the incidents, the latest first; the one in the address is open. Screen readers announce new ones. */
export function incidentHistory(
  incidents: readonly IncidentDocument[],
  startedAt: string,
  view: IncidentsReader,
): Html {
  const { incident } = view.filter;
  const isShown = (each: IncidentDocument, place: number): boolean => place < SHOWN || hasId(each, incident);
  const earlier = incidents.filter((each, place) => !isShown(each, place));
  const isUnknown = incident !== "" && !incidents.some((each) => hasId(each, incident));
  return html`<h2 id="history-title">What happened</h2>
    ${isUnknown ? html`<p id="unknown-incident" class="note">${UNKNOWN}</p>` : nothing}
    <div aria-live="polite" aria-relevant="additions">${incidentItems(incidents.filter(isShown), view)}</div>
    ${more(view, "earlier-incidents", earlier.length, "earlier incident", () => incidentItems(earlier, view))}
    <p class="note">Since the exporter started, ${absolute(startedAt)}.</p>`;
}

const UNKNOWN =
  "The exporter does not know the incident of this address: it has started since then, or the incident is too old.";

function incidentItems(incidents: readonly IncidentDocument[], view: IncidentsReader): Html {
  if (incidents.length === 0) return nothing;
  return html`<ol class="incidents">
    ${incidents.map((each) => incidentItem(each, view))}
  </ol>`;
}

function incidentItem(incident: IncidentDocument, view: IncidentsReader): Html {
  const { id, begin, summary, cluster } = incident;
  const isChosen = hasId(incident, view.filter.incident);
  const element = `incident-${id}`;
  const level = incidentLevel(incident);
  const opened = isChosen ? new Set([...view.opened, element]) : view.opened;
  const line = html`${mark(level)}<span class="what"
      ><strong>${severityWords(incident)}</strong> <span>${summary}</span></span
    >`;
  return html`<li data-level="${level}" ${isChosen ? html`aria-current="true"` : nothing}>
    <p class="meta note">
      <a href="${incidentLink(id, view)}">${absoluteTime(begin)}</a>
      <span>${relative("ago", begin, view)}, ${incidentState(incident)}</span>
      <a href="#${clusterId(cluster)}">Cluster ${cluster}</a>
    </p>
    ${disclosure({ ...view, opened }, element, line, () => incidentBody(incident, view))}
  </li> `;
}

/** Returns the address of an incident, with the filter of the page. */
function incidentLink(incident: string, { filter }: IncidentsReader): string {
  return `?${queryOf({ ...filter, incident }).toString()}`;
}

/** Returns the details of an incident. Screen readers do not announce them, since the reader opened them. */
function incidentBody(incident: IncidentDocument, view: IncidentsReader): Html {
  const links = incident.meanwhile.map(({ id, begin, summary }) => {
    const href = incidentLink(id, view);
    return html`<dd>${absoluteTime(begin)}: <a href="${href}">${shortened(summary, MAX_LINK)}</a></dd> `;
  });
  const alert = alertOf(incident.kind);
  return html`<dl aria-live="off">
    ${incidentFacts(incident).map(([title, ...facts]) => {
      return html`<dt>${title}</dt>
        ${facts.map((each) => html`<dd>${each}</dd> `)}`;
    })}
    ${
      alert === undefined
        ? nothing
        : html`<dt>Runbook</dt>
            <dd>${runbookLink(alert, alert)}</dd>`
    }
    ${links.length === 0 ? nothing : html`<dt>Meanwhile</dt>`} ${links}
  </dl>`;
}
