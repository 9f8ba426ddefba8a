import type { ApplianceDocument, ClusterDocument, PollDocument } from "../../../status/schema.ts";
import { groupRows } from "./group-rows.ts";
import { html, nothing, type Html } from "./html.ts";
import { labelList } from "./labels.ts";
import { mark } from "./mark.ts";
import { pollRows } from "./poll-rows.ts";
import type { Standing } from "./standing.ts";
import type { Now } from "./time.ts";
import { websiteRows } from "./website-rows.ts";

/** So many columns have room on a narrow screen, one beside the other. */
const FEW = 3;

/** A column for each appliance; rows for VRRP groups, for websites and for how polling goes. */
export function clusterTable(cluster: ClusterDocument, nowMs: Now): Html {
  const { name, appliances } = cluster;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Table of ${name}">
    <table class="${appliances.length <= FEW ? "few" : "many"}" data-columns="${appliances.length}">
      <thead>
        <tr>
          <td></td>
          ${appliances.map((appliance) => columnHeader(appliance, cluster))}
        </tr>
      </thead>
      ${rowGroup("VRRP", "vrrp", appliances.length, groupRows(cluster, nowMs))}
      ${rowGroup("Websites", "websites", appliances.length, websiteRows(cluster, nowMs))}
      ${rowGroup("Polling of the VRRP list", "polling", appliances.length, pollRows(appliances, nowMs))}
    </table>
  </div>`;
}

function columnHeader({ name, labels, poll }: ApplianceDocument, cluster: ClusterDocument): Html {
  const own = Object.entries(labels).filter(([label, value]) => cluster.labels[label] !== value);
  return html`<th scope="col" data-standing="${POLL_STANDINGS[poll.state]}">
    ${mark(POLL_STANDINGS[poll.state])} <span class="name">${name}</span>
    <span class="words">${POLL_WORDS[poll.state]}</span> ${labelList(Object.fromEntries(own))}
  </th> `;
}

const POLL_STANDINGS: Readonly<Record<PollDocument["state"], Standing>> = {
  pending: "unknown",
  succeeded: "well",
  failed: "critical",
};

const POLL_WORDS: Readonly<Record<PollDocument["state"], string>> = {
  pending: "not polled yet",
  succeeded: "up",
  failed: "down",
};

function rowGroup(title: string, kind: string, columns: number, rows: readonly Html[]): Html {
  if (rows.length === 0) return nothing;
  return html`<tbody class="${kind}">
    <tr class="title">
      <th scope="rowgroup" colspan="${columns + 1}">${title}</th>
    </tr>
    ${rows}
  </tbody>`;
}
