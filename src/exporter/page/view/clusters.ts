import type { ApplianceDocument, ClusterDocument } from "../../document/schema.ts";
import { once } from "../../../support/kept.ts";
import { inSlices } from "../../../support/slices.ts";
import type { JudgedCluster } from "../../view/headline.ts";
import { readinessLine } from "../../view/readiness-rows.ts";
import type { Cell, Row, RowGroup } from "../../view/row.ts";
import { clusterRows } from "../../view/rows.ts";
import type { Phrase } from "../../view/time.ts";
import { count } from "../../../support/text.ts";
import { mastersInWords } from "../../judge/words.ts";
import { troubleIn } from "../../view/planned.ts";
import { html, nothing, type Html } from "./html.ts";
import { clusterStrip, stripTable, type StripView } from "./timelines.ts";
import { clusterId, disclosure, labelList, mark, relative, type Reader } from "./parts.ts";

/** If there are at most this many clusters, all are open. Otherwise at most this many with problems are open. */
const FEW = 3;
/** A browser updates this many lines of clusters within 100 ms. */
const MAX_LINES = 250;
/** The most open clusters, since tables are most of a page's bytes. */
const MAX_OPEN = 20;

/** Renders a line for each cluster, in slices: 250 lines and the tables of at most 20 open clusters. */
export async function clusterList(
  clusters: readonly JudgedCluster[],
  reader: Reader,
  strips: StripView,
): Promise<Html> {
  const wanted = clusters.flatMap(({ cluster }, place) => {
    const id = clusterId(cluster.name);
    const isTroubled = cluster.level === "critical" || cluster.level === "warning";
    const byDefault = place < FEW && (isTroubled || clusters.length <= FEW);
    return !reader.closed.has(id) && (byDefault || reader.opened.has(id)) ? [id] : [];
  });
  const opened = new Set(wanted.slice(0, MAX_OPEN));
  const shown = clusters.filter(
    ({ cluster }, place) => place < MAX_LINES || opened.has(clusterId(cluster.name)),
  );
  const items: Html[] = [];
  await inSlices(shown, (each) => void items.push(clusterItem(each, { ...reader, opened }, strips)));
  const left = clusters.length - shown.length;
  return html`<h2>Clusters <span class="note">${clusters.length}</span></h2>
    ${wanted.length === opened.size ? nothing : html`<p class="note">Only ${MAX_OPEN} of ${wanted.length} are open: close some to see others.</p>`}
    <ul class="clusters">
      ${items}
    </ul>
    ${left === 0 ? nothing : html`<p class="note">${count(left, "more cluster")}: use the filter to see them.</p>`}`;
}

function clusterItem({ cluster, problems }: JudgedCluster, reader: Reader, strips: StripView): Html {
  const { level, appliances } = cluster;
  const isDisabled = appliances.every(({ state }) => state === "disabled");
  const quiet = level === "well" ? "Well" : isDisabled ? "Disabled" : "Not known yet";
  const line = html`${mark(level)}
    <h3>${cluster.name}</h3>
    <span class="level">${troubleIn(problems) ?? quiet}</span>
    ${factsOf(cluster)} ${clusterStrip(cluster, strips)}`;
  const table = () => html`${stripTable(cluster, strips)} ${clusterTable(cluster, reader)}`;
  return html`<li class="cluster" data-level="${level}">
    ${disclosure(reader, clusterId(cluster.name), line, table)}
  </li> `;
}

const factsOf = once(({ groups, websites, appliances, labels }: ClusterDocument): Html => {
  const facts = [
    ...(groups.length === 0 ? [] : [mastersFact(groups)]),
    ...(websites.length === 0 ? [] : [count(websites.length, "website")]),
    ...readinessLine(appliances),
  ];
  return html`<span class="facts note">${facts.map((fact) => html`<span>${fact}</span> `)}</span>
    ${labelList(labels)}`;
});

/** Returns `Master: a` or `2 masters: a, b`, and the number of groups without one that is known. */
function mastersFact(groups: ClusterDocument["groups"]): string {
  const found = groups.map(({ master, masters = master === undefined ? [] : [master] }) => masters);
  const masters = [...new Set(found.flat())];
  if (masters.length === 0) return "Master: none known";
  const named = masters.length === 1 ? `Master: ${masters[0]}` : mastersInWords(masters);
  const lacking = found.filter(({ length }) => length === 0).length;
  return lacking === 0 ? named : `${named}; none known of ${count(lacking, "VRRP group")}`;
}

function clusterTable(cluster: ClusterDocument, reader: Reader): Html {
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

function columnHeader(appliance: ApplianceDocument, cluster: ClusterDocument): Html {
  const { name, labels, state, level, poll } = appliance;
  const own = Object.entries(labels).filter(([label, value]) => cluster.labels[label] !== value);
  return html`<th scope="col" data-level="${level}">
    ${mark(level)} <span class="name">${name}</span>
    <span class="words">${state ?? poll?.reason?.replaceAll("_", " ") ?? "not polled yet"}</span>
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

function inline(phrase: Phrase, reader: Reader): Html {
  return typeof phrase === "string" ? html`${phrase}` : relative(phrase.wording, phrase.at, reader);
}
