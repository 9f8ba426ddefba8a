import type { FleetDocument } from "../status/schema.ts";
import { clusterList } from "./view/clusters.ts";
import { eventHistory } from "./view/events.ts";
import { applyFilter, filterForm, matchNote, readFilter, type Filter } from "./view/filter.ts";
import { html, nothing, type Html } from "./view/html.ts";
import { absolute, readReader, type Reader } from "./view/parts.ts";
import { problemList } from "./view/problems.ts";
import { judgeClusters, titleOf, verdictBanner, verdictOf } from "./view/verdict.ts";

export interface StatusPageDeps {
  readonly document: () => FleetDocument | Promise<FleetDocument>;
  /** Unix time in milliseconds. */
  readonly wallMs: () => number;
  /** Path of the metrics: `/metrics`. */
  readonly telemetryPath: string;
  /** Folder of the page's own files, relative to the page: `assets/0123abcd`. */
  readonly assets: string;
}

/** The status page as HTML for the query of a URL: the filter, what the reader opened, and whether a fragment is wanted. */
export function createStatusPage(deps: StatusPageDeps): (query: URLSearchParams) => Promise<string> {
  return async (query) => {
    const document = await deps.document();
    const reader = readReader(query, deps.wallMs());
    const fragment = renderFragment(document, readFilter(query), reader);
    return (query.has("fragment") ? fragment : renderPage(document, fragment, reader, deps)).text;
  };
}

/** The whole page. It works without a script and under any path: all its links are relative. */
function renderPage(
  document: FleetDocument,
  fragment: Html,
  { nowMs }: Reader,
  { assets, telemetryPath }: StatusPageDeps,
): Html {
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
            As of ${absolute(new Date(nowMs).toISOString())}. <a href="">Reload</a>
          </p>
        </header>
        <main>
          <p id="lost" class="lost" role="alert"></p>
          ${fragment}
        </main>
        ${footer(document, telemetryPath)}
      </body>
    </html> `;
}

/**
 * The part of the page that changes, which the script requests every second. The verdict is that of the whole fleet,
 * whatever the filter. Attributes give the script the title, the version and the time.
 */
function renderFragment(document: FleetDocument, filter: Filter, reader: Reader): Html {
  const { exporter, problems, events } = document;
  const verdict = verdictOf(document);
  const clusters = judgeClusters(document);
  const shown = applyFilter({ clusters, problems, events }, filter);
  return html`<div
    id="state"
    data-title="${titleOf(verdict)}"
    data-version="${exporter.version}"
    data-at="${reader.nowMs}"
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
        ${filterForm(document.clusters, filter)}
        <p id="matching" class="note">${matchNote(shown.clusters.length, clusters.length)}</p>
        ${clusterList(shown.clusters, reader)}
      </div>
    </div>
  </div>`;
}

function footer({ exporter }: FleetDocument, telemetryPath: string): Html {
  const { index, total } = exporter.shard;
  const links = [
    [telemetryPath.slice(1), "Metrics"],
    ["api/v1/fleet", "This page as JSON"],
    ["config", "Configuration"],
    ["-/healthy", "Health"],
    ["-/ready", "Readiness"],
  ] as const;
  return html`<footer>
    <nav aria-label="Pages of the exporter">
      ${links.map(([href, text]) => html`<a href="${href}">${text}</a> `)}
    </nav>
    <p>
      appliance-exporter ${exporter.version}, ${total > 1 ? `shard ${index}/${total}, ` : nothing}running
      since ${absolute(exporter.startedAt)}
    </p>
  </footer>`;
}
