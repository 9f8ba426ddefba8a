import type { FleetEvent } from "../../status/schema.ts";
import { inWords } from "../../view/words.ts";
import { html, nothing, type Html } from "./html.ts";
import { absolute, keyedId, more, relative, type Reader } from "./parts.ts";

/** This many events are always shown; the reader can open the others. */
const SHOWN = 8;

/** A list of the events, which come latest first; screen readers announce new ones. */
export function eventHistory(events: readonly FleetEvent[], startedAt: string, reader: Reader): Html {
  const earlier = events.slice(SHOWN);
  return html`<h2 id="history-title">What happened</h2>
    <div aria-live="polite" aria-relevant="additions">${eventItems(events.slice(0, SHOWN), reader)}</div>
    ${more(reader, "earlier-events", earlier.length, "earlier event", () => eventItems(earlier, reader))}
    <p class="note">Since the exporter started, ${absolute(startedAt)}.</p>`;
}

function eventItems(events: readonly FleetEvent[], reader: Reader): Html {
  if (events.length === 0) return nothing;
  return html`<ol class="events">
    ${events.map((event) => eventItem(event, reader))}
  </ol>`;
}

function eventItem({ at, kind, summary, cluster }: FleetEvent, reader: Reader): Html {
  const id = keyedId("event", [at, kind, cluster, summary]);
  return html`<li id="${id}" data-kind="${kind}">
    <p class="what"><strong>${inWords(kind)}</strong> <span>${summary}</span></p>
    <p class="meta note">${relative("ago", at, reader)}, ${absolute(at)}, cluster ${cluster}</p>
  </li> `;
}
