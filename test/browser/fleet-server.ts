import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { FleetDocument } from "../../src/exporter/document/schema.ts";
import { createStatusPage, loadAssets } from "../../src/exporter/page/page.ts";
import { loadRunbook } from "../../src/exporter/page/runbook.ts";
import type { Strips } from "../../src/exporter/view/strip.ts";
import { createWebServer, type WebServer } from "../../src/exporter/web/server.ts";
import type { OnFinished } from "./support.ts";
import { timelinesOf } from "../exporter/page/timelines.ts";
import { routes } from "../exporter/web/support.ts";

/** The exporter's pages on a real socket, with a document that the test writes. */
export interface FleetServer {
  /** Ends in a slash. */
  readonly url: string;
  /** Serves this document from now on. */
  show(document: FleetDocument): void;
  /** Stops it; `start` starts it again on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Called before the pages; `undefined`: none. */
  intercept(interceptor: Interceptor | undefined): void;
}

/** Answers, or returns false to leave that to the pages. */
export type Interceptor = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Whether it is a request of the page's script. */
export function isForFragment({ url }: IncomingMessage): boolean {
  return url?.startsWith("/?") === true && /[?&]fragment\b/.test(url);
}

/** Serves until the test is over. */
export async function startFleetServer(
  first: FleetDocument,
  wallMs?: () => number,
  onFinished: OnFinished = onTestFinished,
  timelines?: Strips,
): Promise<FleetServer> {
  const server = await serveFleet(first, wallMs, timelines);
  onFinished(server.stop);
  return server;
}

/** Serves until it is stopped. Its clock, by default the system's, may be far from the document. */
export async function serveFleet(
  first: FleetDocument,
  wallMs = Date.now,
  timelines: Strips = { ...timelinesOf(first, wallMs()), damages: () => [] },
): Promise<FleetServer> {
  let document = first;
  let interceptor: Interceptor | undefined;
  const assets = await loadAssets();
  const pages = routes({
    renderPage: createStatusPage({
      document: () => document,
      timelines,
      wallMs,
      telemetryPath: "/metrics",
      assets: assets.folder,
    }),
    assets: assets.files,
    runbook: await loadRunbook(assets.folder),
    onError: (path, error) => {
      throw new Error(path, { cause: error });
    },
  });
  const handler: RequestListener = (request, response) => {
    if (interceptor?.(request, response) !== true) pages(request, response);
  };
  let port = 0;
  let server: WebServer | undefined;

  async function start(): Promise<void> {
    server = createWebServer({ onPasswordError: () => {} });
    const started = await server.start([{ host: "127.0.0.1", port }], handler);
    if (!started.ok) throw new Error(started.errors[0]?.message);
    port = Number(new URL(`http://${started.addresses[0]}`).port);
  }
  async function stop(): Promise<void> {
    await server?.stop();
    server = undefined;
  }

  await start();
  return {
    url: `http://127.0.0.1:${port}/`,
    show: (next) => (document = next),
    intercept: (next) => (interceptor = next),
    start,
    stop,
  };
}
