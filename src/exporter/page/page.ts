import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FleetDocument } from "../document/schema.ts";
import type { Strips } from "../view/strip.ts";
import { builtFile } from "../../support/built.ts";
import type { Clock } from "../../support/clock.ts";
import type { LongText } from "../../support/long-text.ts";
import { comingSentences } from "../view/planned.ts";
import { headlineOf, judgeClusters, type Headline } from "../view/headline.ts";
import { clusterList } from "./view/clusters.ts";
import { incidentHistory } from "./view/incidents.ts";
import { applyFilter, filterForm, matchNote, readFilter } from "./view/filter.ts";
import { html, nothing, type Html } from "./view/html.ts";
import { absolute, mark, readReader } from "./view/parts.ts";
import { problemList } from "./view/problems.ts";
import { HATCH } from "./view/strip.ts";
import { stripView } from "./view/timelines.ts";

export interface StatusPageDeps extends Pick<Clock, "wallMs"> {
  readonly document: () => FleetDocument | Promise<FleetDocument>;
  readonly timelines: Strips;
  readonly telemetryPath: string;
  /** The folder of the page's own files, relative to the page: `assets/0123abcd`. */
  readonly assets: string;
}

/**
 * Creates the status page as HTML, made in slices, for the query of a URL: the filter, the elements that the reader opened, and, if only
 * the fragment is wanted, `fragment` with the key of the form that the browser has.
 */
export function createStatusPage(
  deps: StatusPageDeps,
): (query: URLSearchParams) => Promise<{ readonly text: LongText }> {
  return async (query) => {
    const document = await deps.document();
    const nowMs = deps.wallMs();
    const fragment = await renderFragment(document, query, nowMs, deps);
    const markup = query.has("fragment") ? fragment : renderPage(document, fragment, query, nowMs, deps);
    return { text: [markup.text] };
  };
}

/** Renders the whole page. The page works without a script and under any path, since all its links are relative. */
function renderPage(
  document: FleetDocument,
  fragment: Html,
  query: URLSearchParams,
  nowMs: number,
  deps: StatusPageDeps,
): Html {
  const { assets, telemetryPath } = deps;
  return html`<!doctype html>
    <html lang="en">
      ${head(
        titleOf(headlineOf(document)),
        assets,
        html`<script type="module" src="${assets}/client/main.js"></script>`,
      )}
      <body>
        ${HATCH}
        <a class="hidden-visually" href="#fleet">Skip to the clusters</a>
        <header>
          <p class="brand">appliance-exporter</p>
          <p id="connection" class="note">
            As of ${absolute(new Date(nowMs).toISOString())}. <a href="">Reload</a>
            <noscript>
              or <a href="${withAllOpen(query)}">show all problems and incidents</a>; choose a cluster in the
              filter to see its table, or the time of an incident to see what it consists of.
            </noscript>
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

/** Returns the head of each page; `assets` is the folder of its files. */
export function head(title: string, assets: string, script = nothing): Html {
  return html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href="${assets}/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${assets}/style.css" />
    ${script}
  </head>`;
}

/** Returns the address of the same page with all problems and incidents. */
function withAllOpen(query: URLSearchParams): string {
  const all = new URLSearchParams(query);
  for (const id of ["more-problems", "earlier-incidents"]) {
    if (!all.has("open", id)) all.append("open", id);
  }
  return `?${all.toString()}`;
}

/**
 * Renders the part of the page that changes, which the script requests every second. The verdict is on the whole fleet, whatever the
 * filter. Attributes give the script the title, the version and the time.
 */
async function renderFragment(
  document: FleetDocument,
  query: URLSearchParams,
  nowMs: number,
  { timelines }: StatusPageDeps,
): Promise<Html> {
  const { exporter, problems, incidents } = document;
  const headline = headlineOf(document);
  const [filter, reader] = [readFilter(query), readReader(query, nowMs)];
  const clusters = judgeClusters(document);
  const shown = await applyFilter({ clusters, problems, incidents }, filter);
  return html`<div
    id="state"
    data-title="${titleOf(headline)}"
    data-version="${exporter.version}"
    data-at="${nowMs}"
  >
    <section aria-label="What is wrong">
      ${banner(headline)}
      ${comingSentences(document.coming).map((each) => html`<p class="note">${each}.</p> `)}
      <div id="problems">${problemList(shown.problems, reader)}</div>
    </section>
    <div class="columns">
      <section id="history" aria-labelledby="history-title">
        ${incidentHistory(shown.incidents, exporter.startedAt, { ...reader, filter })}
      </section>
      <div id="fleet" tabindex="-1">
        ${filterForm(document.clusters, filter, query.get("fragment") ?? "")}
        <p id="matching" class="note">${matchNote(shown.clusters.length, clusters.length)}</p>
        ${await clusterList(shown.clusters, reader, stripView(timelines, filter.timelines || "day", nowMs))}
      </div>
    </div>
  </div>`;
}

function titleOf({ text }: Headline): string {
  return `${text} – appliance-exporter`;
}

/** Returns the headline, which screen readers announce when it changes. */
function banner({ level, text, detail }: Headline): Html {
  return html`<div class="verdict" data-level="${level}" role="status">
    ${mark(level)}
    <div>
      <h1>${text}</h1>
      <p>${detail}</p>
    </div>
  </div>`;
}

function footer({ exporter }: FleetDocument, telemetryPath: string): Html {
  const { index, total } = exporter.shard;
  return html`<footer class="note">
    <nav aria-label="Pages of the exporter">
      <a href="runbook">Runbook</a>
      <a href="${telemetryPath.slice(1)}">Metrics</a>
      <a href="api/v1/fleet">This page as JSON</a>
      <a href="config">Configuration</a>
      <a href="-/healthy">Health</a>
      <a href="-/ready">Readiness</a>
    </nav>
    <p>
      appliance-exporter ${exporter.version}, ${total > 1 ? `shard ${index}/${total}, ` : nothing}running
      since ${absolute(exporter.startedAt)}
    </p>
  </footer>`;
}

/** The page's own files, which the build makes: browsers do not run TypeScript. */
const TYPES = {
  "client/main.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "style.css": "text/css; charset=utf-8",
};

/**
 * Reads the script, the style sheet and the icon; rejects if the program was not built. `folder`, relative to the page, has a hash of all
 * of them, so that browsers may cache them. The keys of `files` are paths: `/assets/0123abcd/style.css`.
 */
export async function loadAssets() {
  const read = Object.entries(TYPES).map(async ([name, contentType]) => {
    return { name, contentType, body: await readFile(builtFile(`page/${name}`)) };
  });
  const assets = await Promise.all(read);
  const hash = createHash("sha256");
  for (const { body } of assets) hash.update(`${body.length}\0`).update(body);
  const folder = `assets/${hash.digest("hex").slice(0, 16)}`;
  return { folder, files: new Map(assets.map(({ name, ...file }) => [`/${folder}/${name}`, file])) };
}
