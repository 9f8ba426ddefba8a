import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FleetSnapshot } from "../fleet/snapshot.ts";
import type { FleetDocument } from "../status/schema.ts";
import { discoveryReply } from "./discovery.ts";
import { createFleetPage } from "./fleet-page.ts";
import { metricsReply } from "./metrics-text.ts";
import { RELOAD_PATH, type PagePath } from "./paths.ts";
import { reloadReply, type ReloadConfig } from "./reload.ts";
import { createProbePage, type Probe } from "./probe.ts";
import { send, text, type Reply } from "./reply.ts";
import { pathOf } from "./request-path.ts";
import { createSharedRendering } from "./scrape.ts";
import type { Assets } from "./status-page/assets.ts";
import { createStatusPage } from "./status-page/status-page.ts";

/** Connections scraping at once; a client that does not read holds its place until its connection times out. */
const MAX_SCRAPERS = 100;

export interface RouteDeps {
  /** Where the metrics are: `/metrics`. */
  readonly telemetryPath: string;
  readonly renderMetrics: () => Promise<string | Buffer>;
  readonly probe: Probe;
  readonly snapshot: () => FleetSnapshot;
  /** What is true of the fleet, for people. */
  readonly document: () => FleetDocument;
  /** Unix time in milliseconds. */
  readonly wallMs: () => number;
  /** What the status page loads. */
  readonly assets: Assets;
  readonly isHealthy: () => boolean;
  readonly isReady: () => boolean;
  /** The running configuration as text, without its secrets. */
  readonly configText: () => string;
  /** Nothing where reloading over HTTP is not enabled. */
  readonly reload: ReloadConfig | undefined;
  /** A page could not be made: a bug. */
  readonly onError: (path: string, error: unknown) => void;
}

type Page = (request: IncomingMessage) => Reply | Promise<Reply>;

/**
 * Answers GET and HEAD, and POST and PUT to reload; 405 for other methods, 404 for other paths, 503 for one scrape too
 * many.
 */
export function createRoutes(deps: RouteDeps): RequestListener {
  const rendering = createSharedRendering(deps.renderMetrics);
  /** Answers under way, by connection: one that sends many requests at once takes one place. */
  const scrapers = new Map<Socket, number>();

  /** Takes a place until the response is over; false where there is none left. */
  function takePlace({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (scrapers.size >= MAX_SCRAPERS && !scrapers.has(socket)) return false;
    scrapers.set(socket, (scrapers.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (scrapers.get(socket) ?? 1) - 1;
      if (left > 0) scrapers.set(socket, left);
      else scrapers.delete(socket);
    });
    return true;
  }

  const fixed: Readonly<Record<PagePath, Page>> = {
    "/": createStatusPage(deps),
    "/-/healthy": () => (deps.isHealthy() ? text(200, "Healthy") : text(503, "The scheduler does not tick")),
    "/-/ready": () => (deps.isReady() ? text(200, "Ready") : text(503, "Not every appliance was polled yet")),
    "/config": () => text(200, deps.configText().trimEnd(), { "cache-control": "no-store" }),
    "/probe": createProbePage(deps.probe),
    "/api/v1/fleet": createFleetPage(deps.document),
    "/sd": () => discoveryReply(deps.snapshot()),
  };
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ...Object.entries(fixed),
    [deps.telemetryPath, (request) => metricsReply(request, rendering)],
    ...Array.from(deps.assets.replies, ([path, reply]): [string, Page] => [path, () => reply]),
  ]);

  return (request, response) => {
    const path = pathOf(request);
    if (path === deps.telemetryPath && !takePlace(request, response)) {
      send(request, response, text(503, "Too many scrapes at once", { "retry-after": "1" }));
      return;
    }
    const answered =
      path === RELOAD_PATH ? reloadReply(request, deps.reload) : answer(request, pages.get(path));
    answered
      .catch((error: unknown) => {
        deps.onError(path, error);
        return text(500, "Internal error");
      })
      .then((reply) => send(request, response, reply))
      .catch(() => response.destroy());
  };
}

async function answer(request: IncomingMessage, page: Page | undefined): Promise<Reply> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return text(405, "Only GET and HEAD are served", { allow: "GET, HEAD", connection: "close" });
  }
  return page === undefined ? text(404, "Not found") : page(request);
}
