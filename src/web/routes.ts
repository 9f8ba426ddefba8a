import type { IncomingMessage, RequestListener } from "node:http";
import { clientOf } from "./guard.ts";
import { createScrapePlaces } from "./scrape-places.ts";
import { createOutgoing } from "./outgoing.ts";
import { createPageWork } from "./page-work.ts";
import { RELOAD_PATH, type PagePath, pathOf, queryOf } from "./paths.ts";
import { reloadReply, type ReloadConfig } from "./reload.ts";
import { createSharedBody, replyWith, text, type Reply } from "./reply.ts";

/** Only the exporter's own files: no inline script or style, no framing, no request to another host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const NOT_CACHED = { "cache-control": "no-store" };

type Page = (request: IncomingMessage) => Reply | Promise<Reply>;

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
  const sendReply = createOutgoing();
  const workInTurn = createPageWork();
  const scrapeInPlace = createScrapePlaces();

  /** One job for simultaneous requests, which therefore always fits into the queue. */
  function sharedPage(
    path: string,
    contentType: string,
    render: () => Promise<string | Buffer>,
    headers: Readonly<Record<string, string>> = NOT_CACHED,
  ) {
    const body = createSharedBody(async () => {
      const rendered = await workInTurn(path, "", render);
      if (rendered === undefined) throw new Error(`${path}: too many pages wait`);
      return rendered;
    });
    return (request: IncomingMessage) => replyWith(request, contentType, body, headers);
  }
  const statusPage: Page = async (request) => {
    const { socket } = request;
    const renderIfWanted = () => (socket.destroyed ? undefined : deps.renderPage(queryOf(request)));
    const html = await workInTurn("/", clientOf(socket.remoteAddress), renderIfWanted);
    if (html === undefined) return BUSY;
    // Compression is not work of the event loop, and needs no turn.
    return replyWith(
      request,
      "text/html; charset=utf-8",
      createSharedBody(async () => html),
      { "content-security-policy": CONTENT_SECURITY_POLICY, "referrer-policy": "no-referrer", ...NOT_CACHED },
    );
  };
  const metrics = sharedPage(deps.telemetryPath, METRICS_TYPE, deps.renderMetrics, {});
  const scrape: Page = async (request) =>
    (await scrapeInPlace(request.socket, () => metrics(request))) ?? BUSY;
  const fixed: Readonly<Record<PagePath, Page>> = {
    "/": statusPage,
    "/-/healthy": () => (deps.isHealthy() ? text(200, "Healthy") : text(503, "The scheduler does not tick")),
    "/-/ready": () => (deps.isReady() ? text(200, "Ready") : text(503, "Not every appliance was polled yet")),
    "/config": async () => text(200, (await deps.configText()).trimEnd(), NOT_CACHED),
    "/api/v1/fleet": sharedPage("/api/v1/fleet", "application/json", deps.renderFleet),
    "/sd/websites": sharedPage("/sd/websites", "application/json", deps.renderTargets),
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
      .then((ready) => sendReply(request, response, ready))
      .catch(() => response.destroy());
  };
}

async function serve(request: IncomingMessage, page: Page | undefined): Promise<Reply> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return text(405, "Only GET and HEAD are served", { allow: "GET, HEAD", connection: "close" });
  }
  return page === undefined ? text(404, "Not found") : page(request);
}
