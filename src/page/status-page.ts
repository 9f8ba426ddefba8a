import type { FleetDocument } from "../status/schema.ts";
import { renderFragment, renderPage, type PageFacts } from "./page.ts";
import { readFilter } from "./view/filter.ts";
import { readReader } from "./view/reader.ts";

export interface StatusPageDeps extends Pick<PageFacts, "telemetryPath" | "assets"> {
  readonly document: () => FleetDocument;
  /** Unix time in milliseconds. */
  readonly wallMs: () => number;
}

/** The status page as HTML for the query of a URL: the filter, what the reader opened, and whether a fragment is wanted. */
export function createStatusPage(deps: StatusPageDeps): (query: URLSearchParams) => string {
  return (query) => {
    const facts = { ...deps, filter: readFilter(query), reader: readReader(query, deps.wallMs()) };
    const render = query.has("fragment") ? renderFragment : renderPage;
    return render(deps.document(), facts).text;
  };
}
