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
import { addressOf, type Filter } from "./filter.ts";
import { html, nothing, type Html } from "./html.ts";
import { clock, clusterId, disclosure, mark, more, runbookLink, spoken, type Reader } from "./parts.ts";

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
  return html`<h2 id="history-title">
      What happened <span class="note">since the exporter started, ${clock(startedAt, view)}</span>
    </h2>
    ${isUnknown ? html`<p id="unknown-incident" class="note">${UNKNOWN}</p>` : nothing}
    <div aria-live="polite" aria-relevant="additions">${incidentItems(incidents.filter(isShown), view)}</div>
    ${more(view, "earlier-incidents", earlier.length, "earlier incident", () => incidentItems(earlier, view))}`;
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
  const isChosen = hasId(incident, view.filter.incident);
  const element = `incident-${incident.id}`;
  const opened = isChosen ? new Set([...view.opened, element]) : view.opened;
  return html`<li data-level="${incidentLevel(incident)}" ${isChosen ? html`aria-current="true"` : nothing}>
    ${disclosure({ ...view, opened }, element, incidentLine(incident, view), () =>
      incidentBody(incident, view),
    )}
  </li> `;
}

/** Returns when and where an incident began, its sentence, and its state. */
export function incidentLine(incident: IncidentDocument, view: Pick<Reader, "nowMs">): Html {
  const { begin, end, summary, cluster } = incident;
  return html`${mark(incidentLevel(incident))}<span class="when">${clock(begin, view)}</span>
    <span class="where">${cluster}</span>
    <span class="what"
      >${end === undefined || incident.isPlanned === true ? spoken(severityWords(incident)) : nothing}${summary}</span
    >
    <span class="age">${incidentState(incident)}</span>`;
}

/** Returns the address of an incident, with the filter of the page. */
function incidentLink(incident: string, { filter }: IncidentsReader): string {
  return `${addressOf({ ...filter, incident })}#incident-${incident}`;
}

/** Returns the details of an incident. Screen readers do not announce them, since the reader opened them. */
function incidentBody(incident: IncidentDocument, view: IncidentsReader): Html {
  const links = incident.meanwhile.map(({ id, begin, summary }) => {
    const href = incidentLink(id, view);
    return html`<dd>${absoluteTime(begin)}: <a href="${href}">${shortened(summary, MAX_LINK)}</a></dd> `;
  });
  const alert = alertOf(incident.kind);
  const facts = [["Began", absoluteTime(incident.begin)] as const, ...incidentFacts(incident)];
  return html`<dl aria-live="off">
    ${facts.map(([title, ...all]) => {
      return html`<dt>${title}</dt>
        ${all.map((each) => html`<dd>${each}</dd> `)}`;
    })}
    <dt>Links</dt>
    <dd><a href="${incidentLink(incident.id, view)}">This incident</a></dd>
    <dd><a href="#${clusterId(incident.cluster)}">Cluster ${incident.cluster}</a></dd>
    ${alert === undefined ? nothing : html`<dd>${runbookLink(alert)}</dd>`}
    ${links.length === 0 ? nothing : html`<dt>Meanwhile</dt>`} ${links}
  </dl>`;
}
