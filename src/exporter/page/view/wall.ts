import type { FleetDocument } from "../../document/schema.ts";
import { count } from "../../../support/text.ts";
import { toneOf, type JudgedCluster } from "../../view/headline.ts";
import { incidentLevel } from "../../view/incident-facts.ts";
import { mastersIn } from "../../view/masters.ts";
import { troubleIn } from "../../view/planned.ts";
import { sinceOf } from "./clusters.ts";
import { html, nothing, type Html } from "./html.ts";
import { incidentLine } from "./incidents.ts";
import { clusterId, mark, relative, spoken, type Reader } from "./parts.ts";

/** The most tiles that are legible on a screen; beyond these only trouble has one. */
const MAX_TILES = 250;
/** The most tiles that are large, and those that are of a middle size. */
const [LARGE, MIDDLE] = [20, 72];
const DAY_MS = 86_400_000;
/** The most incidents beside the tiles. */
const SHOWN = 12;

/** Returns a tile for each cluster, trouble first, and what happened within a day. */
export function wall(
  clusters: readonly JudgedCluster[],
  incidents: FleetDocument["incidents"],
  reader: Reader,
): Html {
  const { length } = clusters;
  const size = length <= LARGE ? "large" : length <= MIDDLE ? "middle" : "small";
  const latest = incidents.filter(({ begin, end = begin }) => reader.nowMs - Date.parse(end) < DAY_MS);
  const left = length - MAX_TILES;
  return html`<section id="fleet" tabindex="-1" aria-label="Clusters">
      <ul class="tiles" data-size="${size}">
        ${clusters.slice(0, MAX_TILES).map((each) => tile(each, reader))}
      </ul>
      ${left > 0 ? html`<p class="note">${count(left, "more cluster")}: use the status page to see them.</p>` : nothing}
    </section>
    <section id="history" aria-labelledby="history-title">
      <h2 id="history-title">Last 24 hours</h2>
      <ol class="incidents">
        ${latest.slice(0, SHOWN).map((each) => html`<li data-level="${incidentLevel(each)}">${incidentLine(each, reader)}</li> `)}
      </ol>
    </section>`;
}

function tile(judged: JudgedCluster, reader: Reader): Html {
  const { cluster, problems } = judged;
  const tone = toneOf(judged);
  const trouble = troubleIn(problems);
  const since = sinceOf(judged);
  const masters = mastersIn(cluster).join("; ");
  return html`<li data-level="${tone}">
    <a href="./#${clusterId(cluster.name)}"
      >${mark(tone)}<strong>${cluster.name}</strong>
      ${trouble === undefined ? nothing : html`<span class="level"><span class="kinds">${trouble}</span> ${since === undefined ? nothing : relative("long", since, reader)}</span>`}
      <span class="who">${masters === "" ? nothing : spoken("MASTER")}${masters}</span></a
    >
  </li> `;
}
