import type { FleetDocument } from "../../status/schema.ts";
import { clusterSections } from "./view/clusters.ts";
import { eventHistory } from "./view/events.ts";
import { filterForm } from "./view/filter-form.ts";
import { applyFilter, keptOut, type Filter } from "./view/filter.ts";
import { html, nothing, type Html } from "./view/html.ts";
import { narrowedNote } from "./view/narrowed.ts";
import { problemList } from "./view/problems.ts";
import { groupClusters } from "./view/standing.ts";
import { absolute } from "./view/time.ts";
import { titleOf, verdictBanner, verdictOf } from "./view/verdict.ts";

export interface PageFacts {
  /** Unix time of the document. */
  readonly nowMs: number;
  readonly filter: Filter;
  /** Where the metrics are: `/metrics`. */
  readonly telemetryPath: string;
  /** Where the page's own files are, relative to the page: `assets/0123abcd`. */
  readonly assets: string;
}

/**
 * The whole page, as it stands without a script. All links are relative, so that it works under any path. The verdict is
 * always that of the whole fleet, whatever the filter.
 */
export function renderPage(document: FleetDocument, facts: PageFacts): Html {
  const { nowMs, filter, assets } = facts;
  const { exporter } = document;
  const verdict = verdictOf(document);
  const shown = applyFilter(document, filter);
  const hidden = keptOut(document, shown);
  return html`<!doctype html>
    <html lang="en" data-version="${exporter.version}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${titleOf(verdict)}</title>
        <link rel="icon" href="${assets}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets}/style.css" />
        <script type="module" src="${assets}/client/main.js"></script>
      </head>
      <body>
        <a class="skip" href="#fleet">Skip to the clusters</a>
        ${header(nowMs)}
        <main>
          <p id="lost" class="lost" hidden></p>
          <section id="now" class="now" aria-label="What is wrong">
            <div id="verdict">${verdictBanner(verdict)}</div>
            ${exporter.pollingMode === "probe" ? PROBE_MODE : nothing}
            <div id="problems">${problemList(shown.problems, hidden.problems, nowMs)}</div>
          </section>
          <div class="columns">
            <section id="history" class="history" aria-labelledby="history-title">
              ${eventHistory(shown.events, hidden.events, exporter.startedAt, nowMs)}
            </section>
            <div id="fleet" class="fleet" tabindex="-1">
              <div id="filter">${filterForm(document, filter)}</div>
              <p id="narrowed" class="note">
                ${narrowedNote(shown.clusters.length, document.clusters.length)}
              </p>
              ${clusterSections(groupClusters(shown), nowMs)}
            </div>
          </div>
        </main>
        ${footer(document, facts)}
        <div id="announcer" class="hidden-visually" role="status"></div>
      </body>
    </html> `;
}

const PROBE_MODE = html`<p class="note">
  This exporter polls when it is probed, and at no other time: what is shown of an appliance is as old as its
  last success.
</p>`;

/** Without a script the page is a picture of its moment, and says so. */
function header(nowMs: number): Html {
  return html`<header>
    <p class="brand">appliance-exporter</p>
    <p id="connection" class="connection" data-connection="none">
      As of ${absolute(new Date(nowMs).toISOString())}. <a href="">Reload</a>
    </p>
  </header>`;
}

function footer({ exporter, clusters }: FleetDocument, { telemetryPath }: PageFacts): Html {
  const [first] = clusters;
  const probe =
    first === undefined ? nothing : link(`probe?target=${encodeURIComponent(first.name)}`, "Probe");
  return html`<footer>
    <nav aria-label="Pages of the exporter">
      ${link(telemetryPath.slice(1), "Metrics")} ${link("api/v1/fleet", "This page as JSON")}
      ${link("config", "Configuration")} ${link("sd", "Service discovery")} ${probe}
      ${link("-/healthy", "Health")} ${link("-/ready", "Readiness")}
    </nav>
    <p>appliance-exporter ${exporter.version}, running since ${absolute(exporter.startedAt)}</p>
  </footer>`;
}

function link(href: string, text: string): Html {
  return html`<a href="${href}">${text}</a>`;
}
