import type { ClusterDocument } from "../../../status/schema.ts";
import { clusterAnchor } from "./anchor.ts";
import { clusterTable } from "./cluster-table.ts";
import { html, nothing, type Html } from "./html.ts";
import { kindsOf } from "./kinds.ts";
import { labelList } from "./labels.ts";
import { mark } from "./mark.ts";
import { STANDING_WORDS, type JudgedCluster, type Standing } from "./standing.ts";
import type { Now } from "./time.ts";
import { count, distinct } from "./words.ts";

/** How much of a cluster is drawn. `isWhole`: its table is there, though it may be closed. */
export interface Extent {
  readonly isOpen: boolean;
  readonly isWhole: boolean;
}

/** A cluster as an item of a list: what matters in one line, everything on request. */
export function clusterItem(judged: JudgedCluster, { isOpen, isWhole }: Extent, nowMs: Now): Html {
  const { name } = judged.cluster;
  return html`<li class="cluster" data-key="${name}" data-standing="${judged.standing}">
    <details id="${clusterAnchor(name)}" ${isOpen ? html`open` : nothing}>
      <summary>${clusterSummary(judged)}</summary>
      <div class="body">${isWhole ? clusterTable(judged.cluster, nowMs) : linkTo(name)}</div>
    </details>
  </li> `;
}

/** To the page of this cluster alone; a script needs no other page. */
function linkTo(name: string): Html {
  return html`<p class="alone">
    <a href="?${new URLSearchParams({ cluster: name }).toString()}">Show ${name} alone</a>
  </p>`;
}

/** The one line. */
export function clusterSummary({ cluster, standing, problems }: JudgedCluster): Html {
  const facts = [...mastersOf(cluster), ...websitesOf(cluster)];
  return html`${mark(standing)}
    <h3>${cluster.name}</h3>
    <span class="standing">${problems.length === 0 ? QUIET_WORDS[standing] : kindsOf(problems)}</span>
    <span class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</span>
    ${labelList(cluster.labels)}`;
}

/** Without a problem of its own. */
const QUIET_WORDS: Readonly<Record<Standing, string>> = { ...STANDING_WORDS, unknown: "Not known yet" };

function mastersOf({ groups }: ClusterDocument): readonly string[] {
  if (groups.length === 0) return [];
  const masters = distinct(
    groups.flatMap(({ members }) =>
      members.filter(({ role }) => role === "master").map((one) => one.appliance),
    ),
  );
  const title = masters.length > 1 ? "Masters" : "Master";
  const led = groups.filter(({ state }) => state === "one_master").length;
  const howMany = led === groups.length ? "" : `${led} of `;
  const groupCount = groups.length === 1 ? "" : ` (${howMany}${count(groups.length, "group")})`;
  return [`${title}: ${masters.length === 0 ? "none known" : masters.join(", ")}${groupCount}`];
}

function websitesOf({ websites }: ClusterDocument): readonly string[] {
  return websites.length === 0 ? [] : [count(websites.length, "website")];
}
