import type { IncidentDocument } from "../../status/schema.ts";
import { inWords } from "../../view/words.ts";
import { html, nothing, type Html } from "./html.ts";
import { absolute, more, relative, type Reader } from "./parts.ts";

/** This many incidents are always shown; the reader can open the others. */
const SHOWN = 8;

/** A list of the incidents, which come latest first; screen readers announce new ones. */
export function incidentHistory(
  incidents: readonly IncidentDocument[],
  startedAt: string,
  reader: Reader,
): Html {
  const earlier = incidents.slice(SHOWN);
  return html`<h2 id="history-title">What happened</h2>
    <div aria-live="polite" aria-relevant="additions">
      ${incidentItems(incidents.slice(0, SHOWN), reader)}
    </div>
    ${more(reader, "earlier-incidents", earlier.length, "earlier incident", () => incidentItems(earlier, reader))}
    <p class="note">Since the exporter started, ${absolute(startedAt)}.</p>`;
}

function incidentItems(incidents: readonly IncidentDocument[], reader: Reader): Html {
  if (incidents.length === 0) return nothing;
  return html`<ol class="incidents">
    ${incidents.map((each) => incidentItem(each, reader))}
  </ol>`;
}

function incidentItem({ id, begin: at, kind, summary, cluster }: IncidentDocument, reader: Reader): Html {
  return html`<li id="incident-${id}" data-kind="${kind}">
    <p class="what"><strong>${inWords(kind)}</strong> <span>${summary}</span></p>
    <p class="meta note">${relative("ago", at, reader)}, ${absolute(at)}, cluster ${cluster}</p>
  </li> `;
}
