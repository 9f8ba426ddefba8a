import type { IncomingMessage, RequestListener } from "node:http";
import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import type { ReloadResult } from "../config/reload.ts";
import type { LongText } from "../support/long-text.ts";
import { clientOf } from "./connections.ts";
import { pathOf, queryOf } from "./paths.ts";
import { compressible, createOutgoing, text, type Reply } from "./reply.ts";

const NOT_CACHED = { "cache-control": "no-store" };
const PAGE_HEADERS = {
  // Only the exporter's own files: no inline script or style, no framing, no request to another host.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  ...NOT_CACHED,
};
/** The server does not wait for the body of a request to reload. */
const CLOSE = { connection: "close", ...NOT_CACHED };

/** Text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const JSON_TYPE = "application/json";

/** A client's scrapes that wait for the metrics to be rendered. Sending does not count. */
const MAX_SCRAPES = 100;
/** A client's requests that wait for the status page, which is rendered for each of them. */
const MAX_PAGES = 10;
const MAX_PAUSE_MS = 100;

const BUSY = text(503, "Too many requests at once", { "retry-after": "1" });

type Page = (request: IncomingMessage) => Reply | Promise<Reply>;

export interface RouteDeps {
  readonly telemetryPath: string;
  readonly renderMetrics: () => Promise<string | LongText>;
  readonly renderFleet: () => Promise<string | LongText>;
  /** The websites as targets for blackbox_exporter; `undefined` while they are not known. */
  readonly websiteTargets: () => Promise<object | undefined>;
  /** The status page as HTML, for the query of its URL. */
  readonly renderPage: (query: URLSearchParams) => Promise<string>;
  /** Scripts and styles of the status page, by path. The paths change with the content. */
  readonly assets: ReadonlyMap<string, Pick<Reply, "contentType" | "body">>;
  readonly isHealthy: () => boolean;
  readonly isReady: () => boolean;
  /** The running configuration without its secrets. */
  readonly configText: () => string;
  /** `undefined` if reloading over HTTP is not enabled. */
  readonly reload: (() => Promise<ReloadResult>) | undefined;
  /** Called when a bug prevents a page. */
  readonly onError: (path: string, error: unknown) => void;
}

/**
 * Serves GET and HEAD, and POST and PUT to reload; 405 for other methods, 404 for other paths, 503 if too many requests
 * wait. Limits the responses that slow clients keep in memory.
 */
export function createRoutes(deps: RouteDeps): RequestListener {
  const sendReply = createOutgoing();
  const oneAtATime = pLimit(1);
  /** After each page comes a pause as long as the page took: pages take at most half of the time. */
  function renderInTurn(request: IncomingMessage): Promise<string> {
    return new Promise((resolve) => {
      void oneAtATime(async () => {
        const startedMs = performance.now();
        const page = (async () => (request.socket.destroyed ? "" : deps.renderPage(queryOf(request))))();
        resolve(page);
        await page.catch(() => {});
        await setTimeout(Math.min(performance.now() - startedMs, MAX_PAUSE_MS));
      });
    });
  }
  const statusPage: Page = async (request) => {
    const html = await renderInTurn(request);
    // Compression is not work of the event loop, and needs no turn.
    return compressible("text/html; charset=utf-8", PAGE_HEADERS, async () => html)(request);
  };
  const websites: Page = async (request) => {
    const targets = await deps.websiteTargets();
    if (targets === undefined) return text(503, "Not every website was polled yet");
    return compressible(JSON_TYPE, NOT_CACHED, async () => `${JSON.stringify(targets)}\n`)(request);
  };
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ["/", atMost(MAX_PAGES, statusPage)],
    [
      "/-/healthy",
      () => (deps.isHealthy() ? text(200, "Healthy") : text(503, "The scheduler does not tick")),
    ],
    [
      "/-/ready",
      () => (deps.isReady() ? text(200, "Ready") : text(503, "Not every appliance was polled yet")),
    ],
    ["/config", () => text(200, deps.configText().trimEnd(), NOT_CACHED)],
    ["/api/v1/fleet", compressible(JSON_TYPE, NOT_CACHED, deps.renderFleet)],
    ["/sd/websites", websites],
    [deps.telemetryPath, atMost(MAX_SCRAPES, compressible(METRICS_TYPE, {}, deps.renderMetrics))],
    ...Array.from(deps.assets, ([path, file]): [string, Page] => [
      path,
      () => ({ ...file, status: 200, headers: { "cache-control": "public, max-age=31536000, immutable" } }),
    ]),
  ]);

  return (request, response) => {
    const path = pathOf(request);
    const reply = path === "/-/reload" ? reloadReply(request, deps.reload) : serve(request, pages.get(path));
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
  if (request.method !== "GET" && request.method !== "HEAD")
    return text(405, "Only GET and HEAD are served", { allow: "GET, HEAD", connection: "close" });
  return page === undefined ? text(404, "Not found") : page(request);
}

/** @see https://prometheus.io/docs/prometheus/latest/management_api/#reload */
async function reloadReply(
  { method, headers }: IncomingMessage,
  reload: RouteDeps["reload"],
): Promise<Reply> {
  if (method !== "POST" && method !== "PUT")
    return text(405, "Only POST and PUT are served", { allow: "POST, PUT", ...CLOSE });
  if (reload === undefined)
    return text(403, "Reloading over HTTP is not enabled; --web.enable-lifecycle enables it", CLOSE);
  // The status page never reloads, so no origin is allowed: after DNS rebinding, a foreign page has the exporter's address
  // as its origin. @see https://fetch.spec.whatwg.org/#origin-header and https://www.w3.org/TR/fetch-metadata/
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined)
    return text(403, "Web pages cannot reload: the request has an Origin or Sec-Fetch-Site header", CLOSE);
  const result = await reload();
  return result.ok ? text(200, "Reloaded", CLOSE) : text(500, result.errors.join("\n"), CLOSE);
}

/** 503 for a client's requests beyond so many at once: one client cannot take the places of another. */
function atMost(limit: number, page: Page): Page {
  const counts = new Map<string, number>();
  return async (request) => {
    const client = clientOf(request.socket.remoteAddress);
    const count = counts.get(client) ?? 0;
    if (count >= limit) return BUSY;
    counts.set(client, count + 1);
    try {
      return await page(request);
    } finally {
      const left = (counts.get(client) ?? 1) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    }
  };
}
