import type { ClusterDocument } from "../../status/schema.ts";
import { once } from "../../support/once.ts";
import { clusterTable } from "./cluster-table.ts";
import { html, nothing, type Html } from "./html.ts";
import type { JudgedCluster } from "./verdict.ts";
import { clusterId, count, isOpen, kindsOf, labelList, mark, type Reader } from "./parts.ts";

/** This many clusters are all open; of more than these, as many of those with problems. */
const FEW = 3;
/** Lines of clusters that a browser merges within 100 ms. */
const MAX_LINES = 250;

/** A line for each cluster: 250 in all, and those that the reader opened. `clusters`: as judged, in order. */
export function clusterList(clusters: readonly JudgedCluster[], reader: Reader): Html {
  const items = clusters.map((each, place): Html => {
    const { cluster, level } = each;
    if (place >= MAX_LINES && !reader.opened.has(clusterId(cluster.name))) return nothing;
    const isTroubled = level === "critical" || level === "warning";
    const opensAtFirst = place < FEW && (isTroubled || clusters.length <= FEW);
    return clusterItem(each, opensAtFirst, reader);
  });
  const left = items.filter((item) => item === nothing).length;
  return html`<h2>Clusters <span class="number">${clusters.length}</span></h2>
    <ul class="clusters">
      ${items}
    </ul>
    ${left === 0 ? nothing : html`<p class="note">${count(left, "more cluster")}: use the filter to see them.</p>`}`;
}

/** One line, and the table when it is open. Without a script a link leads to it. */
function clusterItem(
  { cluster, level, problems }: JudgedCluster,
  opensAtFirst: boolean,
  reader: Reader,
): Html {
  const { name } = cluster;
  const id = clusterId(name);
  const isShown = isOpen(reader, id, opensAtFirst);
  const instead = reader.withClosed ? linkTo(name) : nothing;
  const quiet = level === "well" ? "Well" : "Not known yet";
  return html`<li class="cluster" data-level="${level}">
    <details id="${id}" ${isShown ? html`open` : nothing}>
      <summary>
        ${mark(level)}
        <h3>${name}</h3>
        <span class="level">${problems.length === 0 ? quiet : kindsOf(problems)}</span>
        ${factsOf(cluster)}
      </summary>
      <div class="body">${isShown ? clusterTable(cluster, reader) : instead}</div>
    </details>
  </li> `;
}

function linkTo(name: string): Html {
  const query = new URLSearchParams({ cluster: name });
  return html`<p class="alone"><a href="?${query.toString()}">Show only ${name}</a></p>`;
}

const factsOf = once(({ groups, websites, labels }: ClusterDocument): Html => {
  const facts = [
    ...(groups.length === 0 ? [] : [mastersOf(groups)]),
    ...(websites.length === 0 ? [] : [count(websites.length, "website")]),
  ];
  return html`<span class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</span>
    ${labelList(labels)}`;
});

function mastersOf(groups: ClusterDocument["groups"]): string {
  const known = groups.flatMap(({ master }) => master ?? []);
  const masters = [...new Set(known)];
  const title = masters.length > 1 ? "Masters" : "Master";
  const howMany = known.length === groups.length ? "" : `${known.length} of `;
  const groupCount = groups.length === 1 ? "" : ` (${howMany}${count(groups.length, "group")})`;
  return `${title}: ${masters.length === 0 ? "none known" : masters.join(", ")}${groupCount}`;
}
