import type { ApplianceDocument, PollDocument } from "../../../status/schema.ts";
import { html, nothing, type Html } from "./html.ts";
import { stateCell } from "./row.ts";
import { formatSeconds, relative, relativeIfKnown, type Now } from "./time.ts";

/** How asking each appliance goes: what is known is as old as its last success. */
export function pollRows(appliances: readonly ApplianceDocument[], nowMs: Now): readonly Html[] {
  const polls = appliances.map(({ poll }) => poll);
  const line = (title: string, cell: (poll: PollDocument) => Html): Html =>
    html`<tr data-key="${title}">
      <th scope="row"><span class="title">${title}</span></th>
      ${polls.map(cell)}
    </tr> `;
  return [
    line("Latest poll", (poll) => resultCell(poll, nowMs)),
    line("Last success", ({ lastSuccessAt }) =>
      plain(relativeIfKnown("ago", lastSuccessAt, nowMs, html`none yet`)),
    ),
    line("Duration", ({ durationSeconds }) =>
      plain(durationSeconds === undefined ? html`–` : html`${formatSeconds(durationSeconds)}`),
    ),
    line("Next poll", ({ nextPollAt }) =>
      plain(relativeIfKnown("next", nextPollAt, nowMs, html`none planned`)),
    ),
  ];
}

function plain(content: Html): Html {
  return html`<td>${content}</td> `;
}

function resultCell({ state, reason, message, failingSince }: PollDocument, nowMs: Now): Html {
  switch (state) {
    case "pending":
      return stateCell("unknown", "not polled yet", nothing);
    case "succeeded":
      return stateCell("well", "good", nothing);
    case "failed": {
      const since =
        failingSince === undefined ? nothing : html`<span>${relative("for", failingSince, nowMs)}</span> `;
      return stateCell(
        "critical",
        (reason ?? "failed").replaceAll("_", " "),
        html`${since}<span>${message ?? ""}</span>`,
      );
    }
    default:
      return state satisfies never;
  }
}
