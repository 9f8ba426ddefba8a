import type { FleetDocument } from "../status/schema.ts";
import { clusterSections } from "./view/clusters.ts";
import { eventHistory } from "./view/events.ts";
import { filterForm, matchNote } from "./view/filter-form.ts";
import { applyFilter, type Filter } from "./view/filter.ts";
import { html, nothing, type Html } from "./view/html.ts";
import { groupClusters } from "./view/levels.ts";
import { absolute } from "./view/parts.ts";
import { problemId, problemList } from "./view/problems.ts";
import type { Reader } from "./view/reader.ts";
import { titleOf, verdictBanner, verdictOf } from "./view/verdict.ts";

export interface PageFacts {
  readonly filter: Filter;
  readonly reader: Reader;
  /** Path of the metrics: `/metrics`. */
  readonly telemetryPath: string;
  /** Folder of the page's own files, relative to the page: `assets/0123abcd`. */
  readonly assets: string;
}

/** The whole page. It works without a script and under any path: all its links are relative. */
export function renderPage(document: FleetDocument, facts: PageFacts): Html {
  const { assets, reader } = facts;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${titleOf(verdictOf(document))}</title>
        <link rel="icon" href="${assets}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets}/style.css" />
        <script type="module" src="${assets}/client/main.js"></script>
      </head>
      <body>
        <a class="skip" href="#fleet">Skip to the clusters</a>
        <header>
          <p class="brand">appliance-exporter</p>
          <p id="connection" class="connection">
            As of ${absolute(new Date(reader.nowMs).toISOString())}. <a href="">Reload</a>
          </p>
        </header>
        <main>
          <p id="lost" class="lost" hidden></p>
          ${renderFragment(document, facts)}
        </main>
        ${footer(document, facts)}
        <div id="announcer" class="hidden-visually" role="status"></div>
      </body>
    </html> `;
}

/**
 * The part of the page that changes, which the script requests every second. The verdict is that of the whole fleet,
 * whatever the filter. Attributes give the script the title, the version, the time and which problems there are.
 */
export function renderFragment(document: FleetDocument, { filter, reader }: PageFacts): Html {
  const { exporter, problems, events, clusters } = document;
  const verdict = verdictOf(document);
  const shown = applyFilter(document, filter);
  return html`<div
    id="state"
    data-title="${titleOf(verdict)}"
    data-version="${exporter.version}"
    data-at="${reader.nowMs}"
    data-problems="${problems.map(problemId).join(" ")}"
  >
    <section class="now" aria-label="What is wrong">
      ${verdictBanner(verdict)}
      <div id="problems">${problemList(shown.problems, problems.length - shown.problems.length, reader)}</div>
    </section>
    <div class="columns">
      <section id="history" class="history" aria-labelledby="history-title">
        ${eventHistory(shown.events, events.length - shown.events.length, exporter.startedAt, reader)}
      </section>
      <div id="fleet" class="fleet" tabindex="-1">
        ${filterForm(document, filter)}
        <p id="matching" class="note">${matchNote(shown.clusters.length, clusters.length)}</p>
        ${clusterSections(groupClusters(shown), reader)}
      </div>
    </div>
  </div>`;
}

function footer({ exporter }: FleetDocument, { telemetryPath }: PageFacts): Html {
  const { index, total } = exporter.shard;
  return html`<footer>
    <nav aria-label="Pages of the exporter">
      ${link(telemetryPath.slice(1), "Metrics")} ${link("api/v1/fleet", "This page as JSON")}
      ${link("config", "Configuration")} ${link("-/healthy", "Health")} ${link("-/ready", "Readiness")}
    </nav>
    <p>
      appliance-exporter ${exporter.version}, ${total > 1 ? `shard ${index}/${total}, ` : nothing}running
      since ${absolute(exporter.startedAt)}
    </p>
  </footer>`;
}

function link(href: string, text: string): Html {
  return html`<a href="${href}">${text}</a>`;
}
