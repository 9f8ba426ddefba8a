import type { FleetEvent } from "../../../status/schema.ts";
import { html, nothing, type Html } from "./html.ts";
import { outsideFilter } from "./narrowed.ts";
import { absolute, relative, type Now } from "./time.ts";
import { count } from "./words.ts";

const SHOWN_AT_ONCE = 8;

const KIND_WORDS: Readonly<Record<FleetEvent["kind"], string>> = {
  failover: "Failover",
  outage: "Outage",
  recovery: "Recovery",
  change: "Change",
};

/** What tells one event from another. */
export function eventKey({ at, kind, cluster, appliance, summary }: FleetEvent): string {
  return JSON.stringify([at, kind, cluster, appliance, summary]);
}

/** What happened, latest first. `hidden`: how many a filter keeps out. */
export function eventHistory(
  events: readonly FleetEvent[],
  hidden: number,
  startedAt: string,
  nowMs: Now,
): Html {
  const [first, others] = [events.slice(0, SHOWN_AT_ONCE), events.slice(SHOWN_AT_ONCE)];
  return html`<h2 id="history-title">What happened</h2>
    ${first.length === 0 ? nothing : eventItems(first, nowMs)}
    ${others.length === 0 ? nothing : olderEvents(others, nowMs)}
    ${hidden === 0 ? nothing : outsideFilter(hidden, "event")}
    ${events.length + hidden === 0 ? html`<p class="note">Nothing yet.</p>` : nothing}
    <p class="note">Since the exporter started, ${absolute(startedAt)}.</p>`;
}

function olderEvents(events: readonly FleetEvent[], nowMs: Now): Html {
  return html`<details class="more">
    <summary>${count(events.length, "earlier event")}</summary>
    ${eventItems(events, nowMs)}
  </details>`;
}

function eventItems(events: readonly FleetEvent[], nowMs: Now): Html {
  return html`<ol class="events">
    ${events.map((event) => eventItem(event, nowMs))}
  </ol>`;
}

function eventItem(event: FleetEvent, nowMs: Now): Html {
  const { at, kind, summary, cluster } = event;
  return html`<li data-key="${eventKey(event)}" data-kind="${kind}">
    <p class="what"><strong>${KIND_WORDS[kind]}</strong> ${summary}</p>
    <p class="meta">${relative("ago", at, nowMs)}, ${absolute(at)}, cluster ${cluster}</p>
  </li> `;
}
