import { clusterItem } from "./cluster.ts";
import { html, nothing, type Html } from "./html.ts";
import { CLUSTER_GROUPS, type ClusterGroup, type ClusterGroups } from "./standing.ts";
import type { Now } from "./time.ts";

const TITLES: Readonly<Record<ClusterGroup, string>> = {
  troubled: "Clusters with problems",
  unknown: "Clusters not known yet",
  well: "Clusters that are well",
};

/** So many clusters leave room for all that is known of each; of more than these, as many that are in trouble. */
const FEW = 3;

/** The tables of more than these would be megabytes that nobody looks at: those that are closed are left out. */
const MANY = 100;

/** Whether a cluster shows everything at first, by its place among those of its group. */
export function opensAtFirst(groups: ClusterGroups, group: ClusterGroup, index: number): boolean {
  return countOf(groups) <= FEW || (group === "troubled" && index < FEW);
}

function countOf(groups: ClusterGroups): number {
  return CLUSTER_GROUPS.reduce((sum, name) => sum + groups[name].length, 0);
}

/** The title of a part of the page, with the number of its clusters. */
export function groupTitle(group: ClusterGroup, { length }: ClusterGroups[ClusterGroup]): Html {
  return html`${TITLES[group]} <span class="number">${length}</span>`;
}

/** All parts; those without a cluster are hidden, and there for a script to fill. */
export function clusterSections(groups: ClusterGroups, nowMs: Now): Html {
  return html`${CLUSTER_GROUPS.map((group) => section(groups, group, nowMs))}`;
}

function section(groups: ClusterGroups, group: ClusterGroup, nowMs: Now): Html {
  const clusters = groups[group];
  const items = clusters.map((judged, index) => {
    const isOpen = opensAtFirst(groups, group, index);
    return clusterItem(judged, { isOpen, isWhole: isOpen || countOf(groups) <= MANY }, nowMs);
  });
  return html`<section id="${group}" ${clusters.length === 0 ? html`hidden` : nothing}>
    <h2>${groupTitle(group, clusters)}</h2>
    <ul class="clusters">
      ${items}
    </ul>
  </section> `;
}
