import type { ApplianceDocument, ClusterDocument } from "../../status/schema.ts";
import { APPLIANCE_PROBLEMS, levelOf } from "../../status/severity.ts";
import { clusterRows, type RowGroup } from "./cluster-rows.ts";
import { html, type Html } from "./html.ts";
import { labelList, mark, relative, type Reader } from "./parts.ts";
import type { Cell, Row, Words } from "./row.ts";

/** A column for each appliance; rows for VRRP groups, websites and polling. */
export function clusterTable(cluster: ClusterDocument, reader: Reader): Html {
  const { name, appliances } = cluster;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Table of ${name}">
    <table>
      <thead>
        <tr>
          <td></td>
          ${appliances.map((appliance) => columnHeader(appliance, cluster))}
        </tr>
      </thead>
      ${clusterRows(cluster).map((group) => rowGroup(group, appliances.length, reader))}
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

function rowGroup({ kind, title, rows }: RowGroup, columns: number, reader: Reader): Html {
  return html`<tbody class="${kind}">
    <tr>
      <th scope="rowgroup" colspan="${columns + 1}">${title}</th>
    </tr>
    ${rows.map((row) => rowLine(row, reader))}
  </tbody>`;
}

export function rowLine({ title, aside = "", level, words, cells }: Row, reader: Reader): Html {
  return html`<tr data-level="${level}">
    <th scope="row">
      <span class="title">${title} <span class="aside">${aside}</span></span>
      <span class="words">${words.map((each) => html`${inline(each, reader)} `)}</span>
    </th>
    ${cells.map((cell) => cellOf(cell, reader))}
  </tr> `;
}

function cellOf({ sign, state, details = [] }: Cell, reader: Reader): Html {
  if (sign === undefined) return html`<td>${inline(state, reader)}</td> `;
  return html`<td data-level="${sign}">
    <span class="state">${mark(sign)}<strong>${inline(state, reader)}</strong></span>
    <span class="more">${details.map((each) => html`<span>${inline(each, reader)}</span> `)}</span>
  </td> `;
}

function inline(words: Words, reader: Reader): Html {
  return typeof words === "string" ? html`${words}` : relative(words.wording, words.at, reader);
}
