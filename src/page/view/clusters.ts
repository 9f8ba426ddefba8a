import type { ClusterDocument } from "../../status/schema.ts";
import type { Level } from "../../status/severity.ts";
import { clusterTable } from "./cluster-table.ts";
import { html, nothing, type Html } from "./html.ts";
import { clusterId } from "./ids.ts";
import {
  CLUSTER_GROUPS,
  LEVEL_WORDS,
  type ClusterGroup,
  type ClusterGroups,
  type JudgedCluster,
} from "./levels.ts";
import { labelList, mark } from "./parts.ts";
import { isOpen, type Reader } from "./reader.ts";
import { count, distinct, kindsOf } from "./words.ts";

const TITLES: Readonly<Record<ClusterGroup, string>> = {
  troubled: "Clusters with problems",
  unknown: "Clusters not known yet",
  well: "Clusters that are well",
};

/** This many clusters are all open; of more than these, as many of those with problems. */
const FEW = 3;
/** The tables of more clusters than these would be megabytes: closed ones are left out. */
const MANY = 100;
/** Lines of clusters that a browser merges within 100 ms. */
const MAX_LINES = 250;

/** A section for each group of clusters: 250 lines in all, and those that the reader opened. */
export function clusterSections(groups: ClusterGroups, reader: Reader): Html {
  const all = CLUSTER_GROUPS.flatMap((group) => groups[group]);
  const shown = new Set(
    all.filter(({ cluster }, index) => index < MAX_LINES || reader.opened.has(clusterId(cluster.name))),
  );
  const left = all.length - shown.size;
  return html`${CLUSTER_GROUPS.map((group) => section(groups, group, shown, reader))}
  ${left === 0 ? nothing : html`<p class="note">${count(left, "more cluster")}: use the filter to see them.</p>`}`;
}

function section(
  groups: ClusterGroups,
  group: ClusterGroup,
  shown: ReadonlySet<JudgedCluster>,
  reader: Reader,
): Html {
  const clusters = groups[group];
  if (clusters.length === 0) return nothing;
  const total = CLUSTER_GROUPS.reduce((sum, name) => sum + groups[name].length, 0);
  const items = clusters.map((judged, index) => {
    const opensAtFirst = total <= FEW || (group === "troubled" && index < FEW);
    return shown.has(judged) ? clusterItem(judged, opensAtFirst, total <= MANY, reader) : nothing;
  });
  return html`<section id="${group}">
    <h2>${TITLES[group]} <span class="number">${clusters.length}</span></h2>
    <ul class="clusters">
      ${items}
    </ul>
  </section> `;
}

/** One line, and the table when it is open. */
function clusterItem(
  judged: JudgedCluster,
  opensAtFirst: boolean,
  isOneOfFew: boolean,
  reader: Reader,
): Html {
  const { name } = judged.cluster;
  const isShown = isOpen(reader, clusterId(name), opensAtFirst);
  return html`<li class="cluster" data-level="${judged.level}">
    <details id="${clusterId(name)}" ${isShown ? html`open` : nothing}>
      <summary>${clusterLine(judged)}</summary>
      <div class="body">
        ${
          isShown || (reader.withClosed && isOneOfFew)
            ? clusterTable(judged.cluster, reader)
            : reader.withClosed
              ? linkTo(name)
              : nothing
        }
      </div>
    </details>
  </li> `;
}

function linkTo(name: string): Html {
  const query = new URLSearchParams({ cluster: name });
  return html`<p class="alone"><a href="?${query.toString()}">Show only ${name}</a></p>`;
}

function clusterLine({ cluster, level, problems }: JudgedCluster): Html {
  const facts = [...mastersOf(cluster), ...websitesOf(cluster)];
  return html`${mark(level)}
    <h3>${cluster.name}</h3>
    <span class="level">${problems.length === 0 ? QUIET_WORDS[level] : kindsOf(problems)}</span>
    <span class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</span>
    ${labelList(cluster.labels)}`;
}

/** For a cluster without a problem. */
const QUIET_WORDS: Readonly<Record<Level, string>> = { ...LEVEL_WORDS, unknown: "Not known yet" };

function mastersOf({ groups }: ClusterDocument): readonly string[] {
  if (groups.length === 0) return [];
  const masters = distinct(groups.flatMap(({ master }) => master ?? []));
  const title = masters.length > 1 ? "Masters" : "Master";
  const led = groups.filter(({ master }) => master !== undefined).length;
  const howMany = led === groups.length ? "" : `${led} of `;
  const groupCount = groups.length === 1 ? "" : ` (${howMany}${count(groups.length, "group")})`;
  return [`${title}: ${masters.length === 0 ? "none known" : masters.join(", ")}${groupCount}`];
}

function websitesOf({ websites }: ClusterDocument): readonly string[] {
  return websites.length === 0 ? [] : [count(websites.length, "website")];
}
