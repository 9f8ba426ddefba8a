import type { ApplianceDocument, ClusterDocument, PollDocument } from "../../status/schema.ts";
import { APPLIANCE_PROBLEMS, levelOf } from "../../status/severity.ts";
import { discoveredRows } from "./discovered-rows.ts";
import { groupRows } from "./group-rows.ts";
import { html, nothing, type Html } from "./html.ts";
import { emptyCell, labelList, mark, relative, row, stateCell, type Reader } from "./parts.ts";
import { formatSeconds, type Wording } from "./time.ts";
import { websiteRows } from "./website-rows.ts";

/** This many columns fit side by side on a narrow screen. */
const FEW = 3;

/** A column for each appliance; rows for VRRP groups, websites and polling. */
export function clusterTable(cluster: ClusterDocument, reader: Reader): Html {
  const { name, appliances } = cluster;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Table of ${name}">
    <table class="${appliances.length <= FEW ? "few" : "many"}">
      <thead>
        <tr>
          <td></td>
          ${appliances.map((appliance) => columnHeader(appliance, cluster))}
        </tr>
      </thead>
      ${rowGroup("VRRP", "vrrp", appliances.length, groupRows(cluster, reader))}
      ${rowGroup("Websites", "websites", appliances.length, websiteRows(cluster, reader))}
      ${rowGroup("Websites as described by the appliances", "discovered", appliances.length, discoveredRows(cluster))}
      ${rowGroup("Polling of the VRRP list", "polling", appliances.length, pollRows(appliances, reader))}
    </table>
  </div>`;
}

function columnHeader({ name, labels, state }: ApplianceDocument, cluster: ClusterDocument): Html {
  const own = Object.entries(labels).filter(([label, value]) => cluster.labels[label] !== value);
  const level = state === undefined ? "unknown" : levelOf(APPLIANCE_PROBLEMS[state]);
  return html`<th scope="col" data-level="${level}">
    ${mark(level)} <span class="name">${name}</span> <span class="words">${state ?? "not polled yet"}</span>
    ${labelList(Object.fromEntries(own))}
  </th> `;
}

function rowGroup(title: string, kind: string, columns: number, rows: readonly Html[]): Html {
  if (rows.length === 0) return nothing;
  return html`<tbody class="${kind}">
    <tr>
      <th scope="rowgroup" colspan="${columns + 1}">${title}</th>
    </tr>
    ${rows}
  </tbody>`;
}

/** How polling each appliance goes. What is known about it is as old as its last success. */
export function pollRows(appliances: readonly ApplianceDocument[], reader: Reader): readonly Html[] {
  const line = (title: string, cellOf: (one: ApplianceDocument) => Html): Html =>
    row({ title: html`${title}`, level: "well", words: nothing, cells: appliances.map(cellOf) });
  const discovery = (title: string, part: "list" | "details"): readonly Html[] => {
    if (appliances.every((one) => one.discovery?.[part] === undefined)) return [];
    const cellOf = ({ discovery: polls }: ApplianceDocument): Html => {
      const poll = polls?.[part];
      return poll === undefined ? emptyCell("not polled here") : resultCell(poll, reader);
    };
    return [line(title, cellOf)];
  };
  const when = (wording: Wording, at: string | undefined, otherwise: string): Html =>
    html`<td>${at === undefined ? otherwise : relative(wording, at, reader)}</td> `;
  return [
    line("Latest poll", ({ poll }) => resultCell(poll, reader)),
    line("Last success", ({ poll }) => when("ago", poll.lastSuccessAt, "none yet")),
    line("Duration", ({ poll }) => html`<td>${formatSeconds(poll.durationSeconds)}</td> `),
    line("Next poll", ({ poll }) => when("next", poll.nextPollAt, "none planned")),
    ...discovery("List of websites", "list"),
    ...discovery("Details of websites", "details"),
  ];
}

function resultCell({ state, reason, message, failingSince }: PollDocument, reader: Reader): Html {
  if (state === "pending") return stateCell("unknown", "not polled yet", nothing);
  if (reason === "unsupported") return stateCell("unknown", "unsupported", nothing);
  if (state === "succeeded") return stateCell("well", "good", nothing);
  const since = html`<span>${relative("for", failingSince, reader)}</span> `;
  const details = html`${failingSince === undefined ? nothing : since}<span>${message ?? ""}</span>`;
  return stateCell("critical", (reason ?? "failed").replaceAll("_", " "), details);
}
