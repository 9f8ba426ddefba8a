import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { ReloadResult } from "../config/reload.ts";
import { windowDocument } from "../maintenance/request.ts";
import { bodyOf, compressed, type LongText } from "../../support/long-text.ts";
import { createHistory, type HistoryDeps } from "./history.ts";
import { STRANGER, type Visitor } from "./visitor.ts";
import { createMaintenance, type MaintenanceDeps } from "./maintenance.ts";
import { createQueue, type Queue } from "./queue.ts";
import { pathOf, queryOf } from "./paths.ts";
import { acceptsGzip, CLOSE, createOutgoing, NOT_CACHED, refusePages, text, type Reply } from "./reply.ts";

const PAGE_HEADERS = {
  // The policy allows only the exporter's own files: no inline script or style, no framing, no request to another host.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  ...NOT_CACHED,
};

/** The content type of the text format 0.0.4. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";
const HTML_TYPE = "text/html; charset=utf-8";
const JSON_TYPE = "application/json";
const CACHED = { "cache-control": "public, max-age=31536000, immutable" };
const RELOAD = "/-/reload";
const HISTORY = "/api/v1/history";
const MAINTENANCE = "/api/v1/maintenance";

/** The most scrapes of a client that wait for the metrics; they never wait for another route. Sending does not count. */
const MAX_SCRAPES = 100;
/** The most requests of a client that wait for the other routes of the fleet. */
const MAX_OTHERS = 10;

export interface Rendering {
  /** The text, made in slices. */
  readonly text: LongText;
  readonly headers?: Reply["headers"];
}

/** Renders a route of the fleet for the query of its URL; `undefined` while the content is not known. */
type Render = (query: URLSearchParams) => Promise<Rendering | undefined>;

/** A route whose work grows with the fleet. */
interface FleetRoute {
  readonly render: Render;
  readonly contentType: string;
  readonly headers: Reply["headers"];
  readonly queue: Queue;
  /** Whether the query changes the content; default: false. */
  readonly readsQuery?: boolean;
}

/** A reply that does not change while the process runs, plain or compressed. */
type Constant = (isCompressed: boolean) => Reply;

/** A check, and its two responses. */
type Probe = readonly [isOk: () => boolean, ok: string, failed: string];

export interface RouteDeps {
  readonly telemetryPath: string;
  readonly renderMetrics: Render;
  readonly renderFleet: Render;
  /** Renders the websites as targets for blackbox_exporter. */
  readonly renderWebsites: Render;
  /** Renders the status page as HTML. */
  readonly renderPage: Render;
  /** The history; `undefined` if the exporter keeps none. */
  readonly history: HistoryDeps | undefined;
  readonly maintenance: MaintenanceDeps;
  /** The scripts and styles of the status page, by path. The paths change with the content. */
  readonly assets: ReadonlyMap<string, { readonly contentType: string; readonly body: string | Buffer }>;
  /** The runbook as HTML. */
  readonly runbook: string;
  readonly isHealthy: () => boolean;
  readonly isReady: () => boolean;
  /** Returns the running configuration without its secrets. */
  readonly configText: () => string;
  /** Whether the configuration may be reloaded over HTTP. */
  readonly mayReload: boolean;
  /** Reloads the configuration. */
  readonly reload: () => Promise<ReloadResult>;
  /** Reports a bug that prevents a page. */
  readonly onError: (path: string, error: unknown) => void;
}

/**
 * Serves GET and HEAD, POST and PUT to reload, and POST to change planned work; 405 for other methods, 404 for other paths. A path leads to
 * a constant, to the history, or to a route of the fleet, which is rendered in its turn and never for one client alone. `paths` has every
 * path that is served.
 */
export function createRoutes(deps: RouteDeps) {
  const sendReply = createOutgoing();
  const queue = createQueue(MAX_OTHERS);
  const [fleet, constants] = [fleetRoutes(deps, queue), constantRoutes(deps)];
  const history = createHistory(deps.history);
  const maintenance = createMaintenance(deps.maintenance, queue);
  const probes = new Map<string, Probe>([
    ["/-/healthy", [deps.isHealthy, "Healthy", "The scheduler does not tick"]],
    ["/-/ready", [deps.isReady, "Ready", "Not every appliance was polled yet"]],
  ]);

  /** Returns the reply; `undefined` if the response has been sent. */
  async function replyTo(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    visitor: Visitor,
  ): Promise<Reply | undefined> {
    if (path === RELOAD) return reloadReply(request, deps.mayReload || visitor.isLocal === true, deps.reload);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (path === MAINTENANCE && !isRead) return maintenance(request, visitor);
    if (!isRead)
      return text(405, "Only GET and HEAD are served", { allow: "GET, HEAD", connection: "close" });
    if (path === HISTORY) return history(request, response);
    const [route, probe, constant] = [fleet.get(path), probes.get(path), constants.get(path)];
    if (route !== undefined) return fleetReply(request, path, route);
    if (probe !== undefined) return probe[0]() ? text(200, probe[1]) : text(503, probe[2]);
    return constant?.(acceptsGzip(request.headers["accept-encoding"])) ?? text(404, "Not found");
  }

  return {
    paths: [
      ...fleet.keys(),
      ...(deps.history === undefined ? [] : [HISTORY]),
      ...probes.keys(),
      ...constants.keys(),
      RELOAD,
    ],
    handle: (request: IncomingMessage, response: ServerResponse, visitor = STRANGER): void => {
      const path = pathOf(request);
      replyTo(request, response, path, visitor)
        .catch((error: unknown) => {
          deps.onError(path, error);
          return text(500, "Internal error");
        })
        .then((reply) => (reply === undefined ? undefined : sendReply(request, response, reply)))
        .catch(() => response.destroy());
    },
  };
}

function fleetRoutes(deps: RouteDeps, queue: Queue): ReadonlyMap<string, FleetRoute> {
  const { renderFleet, renderWebsites, renderPage, renderMetrics, configText, telemetryPath } = deps;
  const { windows } = deps.maintenance;
  const windowsText = () => {
    const [all, coming] = [windows.list(), windows.coming()].map((each) => each.map(windowDocument));
    return `${JSON.stringify({ windows: all, coming: coming?.length === 0 ? undefined : coming })}\n`;
  };
  const json = { contentType: JSON_TYPE, headers: NOT_CACHED, queue };
  const html = { contentType: HTML_TYPE, headers: PAGE_HEADERS, queue };
  const config = { contentType: TEXT_TYPE, headers: NOT_CACHED, queue };
  const metrics = { contentType: METRICS_TYPE, headers: {}, queue: createQueue(MAX_SCRAPES) };
  return new Map<string, FleetRoute>([
    ["/", { ...html, render: renderPage, readsQuery: true }],
    ["/config", { ...config, render: async () => ({ text: [configText()] }) }],
    ["/api/v1/fleet", { ...json, render: renderFleet }],
    [MAINTENANCE, { ...json, render: async () => ({ text: [windowsText()] }) }],
    ["/sd/websites", { ...json, render: renderWebsites }],
    [telemetryPath, { ...metrics, render: renderMetrics }],
  ]);
}

function constantRoutes({ assets, runbook }: RouteDeps): ReadonlyMap<string, Constant> {
  return new Map([
    ...Array.from(
      assets,
      ([path, { contentType, body }]) => [path, constantOf(contentType, body, CACHED)] as const,
    ),
    ["/runbook", constantOf(HTML_TYPE, runbook, PAGE_HEADERS)],
  ]);
}

/** Returns a constant, which is compressed once, whatever clients request. */
function constantOf(contentType: string, content: string | Buffer, headers: Reply["headers"]): Constant {
  const gzip = gzipSync(content);
  return (isCompressed) => success(contentType, isCompressed ? gzip : content, headers, isCompressed);
}

function success(
  contentType: string,
  body: Reply["body"],
  headers: Reply["headers"],
  isCompressed: boolean,
): Reply {
  const encoding = isCompressed ? { "content-encoding": "gzip" } : {};
  return { status: 200, contentType, body, headers: { vary: "accept-encoding", ...headers, ...encoding } };
}

/** Returns the reply of a route. Its turn includes compression, which takes a processor that the event loop needs. */
function fleetReply(request: IncomingMessage, path: string, route: FleetRoute): Promise<Reply> {
  const { queue, render, contentType, headers, readsQuery = false } = route;
  const query = readsQuery ? queryOf(request) : new URLSearchParams();
  const isCompressed = acceptsGzip(request.headers["accept-encoding"]);
  return queue(request, [path, isCompressed, query].join("?"), async () => {
    const rendering = await render(query);
    if (rendering === undefined) return text(503, "Not every website was polled yet");
    const body = await bodyOf(isCompressed ? [await compressed(rendering.text)] : rendering.text);
    return success(contentType, body, { ...headers, ...rendering.headers }, isCompressed);
  });
}

/** @see https://prometheus.io/docs/prometheus/latest/management_api/#reload */
async function reloadReply(
  request: IncomingMessage,
  mayReload: boolean,
  reload: RouteDeps["reload"],
): Promise<Reply> {
  const { method } = request;
  if (method !== "POST" && method !== "PUT")
    return text(405, "Only POST and PUT are served", { allow: "POST, PUT", ...CLOSE });
  if (!mayReload)
    return text(403, "Reloading over HTTP is not enabled; --web.enable-lifecycle enables it", CLOSE);
  const refusal = refusePages(request, "reload");
  if (refusal !== undefined) return refusal;
  const result = await reload();
  return result.ok ? text(200, "Reloaded", CLOSE) : text(500, result.errors.join("\n"), CLOSE);
}
