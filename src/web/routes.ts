import type { IncomingMessage, RequestListener } from "node:http";
import { clientOf } from "./connections.ts";
import { createFleetPage, createMetricsPage, statusPageReply, type Page } from "./pages.ts";
import { createScrapePlaces } from "./scrape-places.ts";
import { createOutgoing } from "./outgoing.ts";
import { createPageWork } from "./page-work.ts";
import { RELOAD_PATH, type PagePath, pathOf, queryOf } from "./paths.ts";
import { reloadReply, type ReloadConfig } from "./reload.ts";
import { text, type Reply } from "./reply.ts";

const BUSY = text(503, "Too many requests at once", { "retry-after": "1" });

export interface RouteDeps {
  /** The path of the metrics, such as `/metrics`. */
  readonly telemetryPath: string;
  readonly renderMetrics: () => Promise<string | Buffer>;
  /** The fleet as JSON. */
  readonly renderFleet: () => Promise<string | Buffer>;
  /** The websites as targets for blackbox_exporter, as JSON. */
  readonly renderTargets: () => Promise<string>;
  /** The status page as HTML, for the query of its URL. */
  readonly renderPage: (query: URLSearchParams) => Promise<string>;
  /** Scripts and styles of the status page, by path. The paths change with the content. */
  readonly assets: ReadonlyMap<string, Pick<Reply, "contentType" | "body">>;
  readonly isHealthy: () => boolean;
  readonly isReady: () => boolean;
  /** The running configuration without its secrets. */
  readonly configText: () => Promise<string>;
  /** `undefined` if reloading over HTTP is not enabled. */
  readonly reload: ReloadConfig | undefined;
  /** Called when a bug prevents a page. */
  readonly onError: (path: string, error: unknown) => void;
}

/**
 * Serves GET and HEAD, and POST and PUT to reload; 405 for other methods, 404 for other paths, 503 if too many requests
 * wait. Limits the responses that slow clients keep in memory.
 */
export function createRoutes(deps: RouteDeps): RequestListener {
  const outgoing = createOutgoing();
  const workInTurn = createPageWork();
  const scrapeInPlace = createScrapePlaces();

  /** One job for simultaneous requests, which therefore always fits into the queue. */
  function shared<T>(page: string, render: () => T | Promise<T>): () => Promise<T> {
    return async () => {
      await outgoing.room();
      const rendered = await workInTurn(page, "", render);
      if (rendered === undefined) throw new Error(`${page}: too many pages wait`);
      return rendered;
    };
  }
  /** Compression is not work of the event loop, and needs no turn. */
  const statusPage: Page = async (request) => {
    await outgoing.room();
    const { socket } = request;
    const renderIfWanted = () => (socket.destroyed ? undefined : deps.renderPage(queryOf(request)));
    const html = await workInTurn("/", clientOf(socket.remoteAddress), renderIfWanted);
    return html === undefined ? BUSY : statusPageReply(request, html);
  };
  const metrics = createMetricsPage(shared(deps.telemetryPath, deps.renderMetrics));
  const scrape: Page = async (request) =>
    (await scrapeInPlace(request.socket, () => metrics(request))) ?? BUSY;
  const fixed: Readonly<Record<PagePath, Page>> = {
    "/": statusPage,
    "/-/healthy": () => (deps.isHealthy() ? text(200, "Healthy") : text(503, "The scheduler does not tick")),
    "/-/ready": () => (deps.isReady() ? text(200, "Ready") : text(503, "Not every appliance was polled yet")),
    "/config": async () => {
      await outgoing.room();
      return text(200, (await deps.configText()).trimEnd(), { "cache-control": "no-store" });
    },
    "/api/v1/fleet": createFleetPage(shared("/api/v1/fleet", deps.renderFleet)),
    "/sd/websites": createFleetPage(shared("/sd/websites", deps.renderTargets)),
  };
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ...Object.entries(fixed),
    [deps.telemetryPath, scrape],
    ...Array.from(deps.assets, ([path, file]): [string, Page] => [
      path,
      () => ({ ...file, status: 200, headers: { "cache-control": "public, max-age=31536000, immutable" } }),
    ]),
  ]);

  return (request, response) => {
    const path = pathOf(request);
    const reply = path === RELOAD_PATH ? reloadReply(request, deps.reload) : serve(request, pages.get(path));
    reply
      .catch((error: unknown) => {
        deps.onError(path, error);
        return text(500, "Internal error");
      })
      .then((ready) => outgoing.send(request, response, ready))
      .catch(() => response.destroy());
  };
}

async function serve(request: IncomingMessage, page: Page | undefined): Promise<Reply> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return text(405, "Only GET and HEAD are served", { allow: "GET, HEAD", connection: "close" });
  }
  return page === undefined ? text(404, "Not found") : page(request);
}
