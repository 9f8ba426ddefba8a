import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FleetDocument } from "../document/schema.ts";
import type { Strips } from "../view/strip.ts";
import { builtFile } from "../../support/built.ts";
import type { Clock } from "../../support/clock.ts";
import type { LongText } from "../../support/long-text.ts";
import { groupBy } from "../../support/group-by.ts";
import { count } from "../../support/text.ts";
import { comingSentences } from "../view/planned.ts";
import {
  headlineOf,
  headlineText,
  judgeClusters,
  talliesOf,
  type Headline,
  type JudgedCluster,
} from "../view/headline.ts";
import type { Tone } from "../view/row.ts";
import { clusterList } from "./view/clusters.ts";
import { emptyFleet } from "./view/empty.ts";
import { incidentHistory } from "./view/incidents.ts";
import { applyFilter, filterForm, matchNote, readFilter, type Filter, type Shown } from "./view/filter.ts";
import { html, nothing, type Html } from "./view/html.ts";
import { absolute, clock, mark, readReader, type Reader } from "./view/parts.ts";
import { problemList } from "./view/problems.ts";
import { legend, scaleOf, stripView } from "./view/timelines.ts";
import { wall } from "./view/wall.ts";

export interface StatusPageDeps extends Pick<Clock, "wallMs"> {
  readonly document: () => FleetDocument | Promise<FleetDocument>;
  readonly timelines: Strips;
  readonly telemetryPath: string;
  /** The folder of the page's own files, relative to the page: `assets/0123abcd`. */
  readonly assets: string;
}

/**
 * Creates the status page as HTML, made in slices, for the query of a URL: the filter, the elements that the reader opened, and `fragment`
 * if only the part that changes is wanted.
 */
export function createStatusPage(
  deps: StatusPageDeps,
): (query: URLSearchParams) => Promise<{ readonly text: LongText }> {
  return async (query) => {
    const document = await deps.document();
    const view = { query, nowMs: deps.wallMs() };
    const fragment = await renderFragment(document, view, deps);
    const markup = query.has("fragment") ? fragment : renderPage(document, fragment, deps);
    return { text: [markup.text] };
  };
}

/** Renders the whole page. The page works without a script and under any path, since all its links are relative. */
function renderPage(document: FleetDocument, fragment: Html, deps: StatusPageDeps): Html {
  const { assets, telemetryPath } = deps;
  const headline = headlineOf(document);
  const script = html`<script type="module" src="${assets}/client/main.js"></script>`;
  return html`<!doctype html>
    <html lang="en">
      ${head(titleOf(headline), assets, { level: headline.level, script })}
      <body>
        <a class="hidden-visually" href="#fleet">Skip to the clusters</a>
        <main>
          <p id="lost" class="lost" role="alert"></p>
          ${fragment}
        </main>
        ${footer(document, telemetryPath)}
      </body>
    </html> `;
}

/** The color of the browser's own parts around the page, and of its icon, for each verdict. */
export const THEMES: Readonly<Record<Tone, string>> = {
  critical: "#b42318",
  warning: "#f2b632",
  planned: "#789ce2",
  well: "#25934d",
  unknown: "#6e7781",
};

/** Returns the head of each page; `assets` is the folder of its files. */
export function head(
  title: string,
  assets: string,
  { level, script }: { readonly level: Tone; readonly script: Html },
): Html {
  return html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="theme-color" content="${THEMES[level]}" />
    <title>${title}</title>
    <link rel="icon" href="${assets}/icon-${level}.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${assets}/style.css" />
    ${script}
  </head>`;
}

interface PageView {
  readonly query: URLSearchParams;
  readonly nowMs: number;
}

/**
 * Renders the part of the page that changes, which the script requests every second. The verdict is on the whole fleet, whatever the
 * filter. Attributes give the script the title, the icon, the version, the time and the scale of the strips.
 */
async function renderFragment(
  document: FleetDocument,
  { query, nowMs }: PageView,
  { timelines, assets }: StatusPageDeps,
): Promise<Html> {
  const { exporter, problems, incidents } = document;
  const headline = headlineOf(document);
  const [filter, reader] = [readFilter(query), readReader(query, nowMs)];
  const all = { clusters: judgeClusters(document), problems, incidents };
  const shown = await applyFilter(all, filter);
  const strips = stripView(timelines, filter.timelines || "day", nowMs);
  const { beginMs, binMs } = scaleOf(strips);
  const content =
    filter.view === "wall"
      ? wall(shown.clusters, shown.incidents, reader)
      : html`${problemsSection(document, shown, { ...reader, filter })}
          ${
            document.clusters.length === 0
              ? emptyFleet()
              : html`<section id="fleet" tabindex="-1" aria-label="Clusters">
                  ${filterForm(document, filter)}
                  <p id="matching" class="note">${matchNote(shown.clusters.length, all.clusters.length)}</p>
                  ${legend(strips)}
                  ${await clusterList(shown.clusters, { ...reader, filter, strips, incidents: groupBy(incidents, ({ cluster }) => cluster) })}
                </section>`
          }
          <section id="history" aria-labelledby="history-title">
            ${incidentHistory(shown.incidents, exporter.startedAt, { ...reader, filter })}
          </section>`;
  return html`<div
    id="state"
    data-title="${titleOf(headline)}"
    data-icon="${assets}/icon-${headline.level}.svg"
    data-theme="${THEMES[headline.level]}"
    data-version="${exporter.version}"
    data-at="${nowMs}"
    data-begin="${beginMs}"
    data-bin="${binMs}"
    data-view="${filter.view}"
  >
    ${banner(document, headline, reader)}${filter.view === "wall" ? nothing : tabs(all.clusters, shown)}${content}
  </div>`;
}

function problemsSection(
  { planned, coming, clusters, problems }: FleetDocument,
  shown: Shown,
  view: Reader & { readonly filter: Filter },
): Html {
  const hidden = problems.length - shown.problems.length;
  return html`<section id="problems" aria-label="What is wrong">
    ${problemList(planned, shown.problems, { ...view, clusters })}
    ${hidden === 0 ? nothing : html`<p class="note">${shown.problems.length} of ${count(problems.length, "problem")} shown.</p>`}
    ${comingSentences(coming).map((each) => html`<p class="note">${each}.</p> `)}
  </section>`;
}

function titleOf(headline: Headline): string {
  return `${headlineText(headline)} – appliance-exporter`;
}

/** Returns the headline, which screen readers announce when it changes, and the time of the page. */
function banner(document: FleetDocument, { level, text, until, detail }: Headline, reader: Reader): Html {
  const tallies = talliesOf(document).map((each) => {
    return html`<li data-level="${each.level}">${each.words}</li> `;
  });
  return html`<div class="verdict" data-level="${level}">
    <div role="status">
      ${mark(level)}
      <h1>${text}${until === undefined ? nothing : html` until ${clock(until, reader)}`}</h1>
      ${
        tallies.length === 0
          ? html`<p>${detail}</p>`
          : html`<ul class="tallies">
              ${tallies}
            </ul>`
      }
    </div>
    <p id="connection" class="note">
      as of ${clock(new Date(reader.nowMs).toISOString(), reader)} UTC. <a href="">Reload</a>
    </p>
  </div>`;
}

/** Returns links to the parts of the page, of which a phone shows one. */
function tabs(clusters: readonly JudgedCluster[], { problems, incidents }: Shown): Html {
  return html`<nav class="tabs" aria-label="Parts of the page">
    <a href="#problems">Problems ${problems.length}</a> <a href="#fleet">Clusters ${clusters.length}</a>
    <a href="#history">Happened ${incidents.length}</a>
  </nav>`;
}

function footer({ exporter }: FleetDocument, telemetryPath: string): Html {
  const { index, total } = exporter.shard;
  return html`<footer class="note">
    <nav aria-label="Pages of the exporter">
      <a href="?view=wall">Wall</a>
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

interface Asset {
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * Reads the script, the style sheet and the icon, of which there is one for each verdict; rejects if the program was not built. `folder`,
 * relative to the page, has a hash of all of them, so that browsers may cache them. The keys of `files` are paths: `/assets/0123abcd/style.css`.
 */
export async function loadAssets() {
  const read = Object.entries(TYPES).map(async ([name, contentType]): Promise<Asset> => {
    return { name, contentType, body: await readFile(builtFile(`page/${name}`)) };
  });
  const assets = (await Promise.all(read)).flatMap((each) =>
    each.name === "icon.svg" ? iconsOf(each) : each,
  );
  const hash = createHash("sha256");
  for (const { body } of assets) hash.update(`${body.length}\0`).update(body);
  const folder = `assets/${hash.digest("hex").slice(0, 16)}`;
  return { folder, files: new Map(assets.map(({ name, ...file }) => [`/${folder}/${name}`, file])) };
}

/** Returns the icon in the color of each verdict. */
function iconsOf({ contentType, body }: Asset): readonly Asset[] {
  return Object.entries(THEMES).map(([level, color]) => {
    const name = `icon-${level}.svg`;
    return { name, contentType, body: Buffer.from(body.toString().replaceAll("#24415f", color)) };
  });
}
