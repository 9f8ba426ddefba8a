import { writeFile } from "node:fs/promises";
import { request as requestPlain, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { request as requestTls, type RequestOptions } from "node:https";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { basename, join } from "node:path";
import { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { formatConfigError, type ConfigError } from "../../../src/exporter/config/errors.ts";
import { WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import type { FleetDocument } from "../../../src/exporter/document/schema.ts";
import { createWindows } from "../../../src/exporter/maintenance/windows.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createRoutes, type RouteDeps } from "../../../src/exporter/web/routes.ts";
import { createWebServer } from "../../../src/exporter/web/server.ts";
import { loadWebConfig } from "../../../src/exporter/web/web-config.ts";
import { createFolder, type Files } from "../config/folder.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface AskOptions extends RequestOptions {
  /** Called with the TLS socket when the response starts. */
  readonly onSocket?: (socket: TLSSocket) => void;
  readonly body?: string | Buffer;
}

/** Sends a request to a server on the loopback interface, over TLS if there is a `ca`. Rejects without a response. */
export function ask(
  port: number,
  path: string,
  { onSocket, body: sentBody, ...options }: AskOptions = {},
): Promise<Answer> {
  const request = options.ca === undefined ? requestPlain : requestTls;
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, agent: false, ...options }, (response) => {
      const { statusCode: status = 0, headers, socket } = response;
      if (socket instanceof TLSSocket) onSocket?.(socket);
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status, headers, body: Buffer.concat(chunks) }));
    });
    sent.on("error", reject);
    sent.end(sentBody);
  });
}

/** A connection that is closed when the test ends. */
export async function connectTo(port: number, localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Serves on free ports of the loopback interface until the test ends. */
export async function serveOn(ports: readonly number[], handler: RequestListener, maxConnections?: number) {
  const listeners = ports.map((port) => ({ host: "127.0.0.1", port }));
  const limit = maxConnections === undefined ? {} : { maxConnections };
  const { start, stop } = createWebServer({ onPasswordError: () => {}, ...limit });
  onTestFinished(stop);
  const started = await start(listeners, handler);
  if (!started.ok) throw new Error(started.errors[0]?.message);
  const { addresses } = started;
  const [port = 0, otherPort = 0] = addresses.map((address) => Number(address.split(":").at(-1)));
  return { addresses, port, otherPort, stop };
}

export async function serve(handler: RequestListener): Promise<number> {
  return (await serveOn([0], handler)).port;
}

export const EMPTY_DOCUMENT: FleetDocument = {
  verdict: "unknown",
  exporter: { version: "1.2.3", startedAt: "2023-11-14T22:13:20.000Z", shard: WHOLE_FLEET },
  planned: [],
  problems: [],
  clusters: [],
  incidents: [],
};

/** Routes with arbitrary dependencies. */
export function routes(given: Partial<RouteDeps> = {}): RequestListener {
  return createRoutes({
    telemetryPath: "/metrics",
    renderMetrics: async () => ({ text: ["x 1\n"] }),
    renderFleet: async () => ({ text: [JSON.stringify(EMPTY_DOCUMENT), "\n"] }),
    renderWebsites: async () => ({ text: ["[]\n"], headers: { "x-targets-left-out": "limit=0" } }),
    renderPage: async () => ({ text: [] }),
    history: undefined,
    maintenance: {
      isEnabled: false,
      windows: createWindows({
        clock: systemClock,
        restored: [],
        onChange: () => {},
        isMuting: () => false,
        onDrill: () => {},
      }),
      remaining: async () => [],
      logger: { info: () => {}, warn: () => {} },
    },
    assets: new Map(),
    runbook: "",
    isHealthy: () => true,
    isReady: () => true,
    configText: () => "appliances: []\n",
    mayReload: false,
    reload: async () => ({ ok: true }),
    onError: () => {},
    ...given,
  }).handle;
}

/** A promise that the test resolves. */
export function held<T>() {
  const waiting: ((value: T) => void)[] = [];
  const promise = new Promise<T>((resolve) => void waiting.push(resolve));
  return { promise, release: (value: T) => waiting[0]?.(value) };
}

/** The bcrypt hash of `correct horse` with the lowest cost, without its prefix. */
export const HASH = "04$hgEwj3dCmabonfMe97BMqe1sNnllCCDX.BeVT8.4eZePcrG2PxOOq";

/** The headers of a request with `user:password`. */
export function basic(credentials: string) {
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function linesOf(errors: readonly ConfigError[], folder: string): readonly string[] {
  return errors.map((error) => formatConfigError(error).replaceAll(`${folder}/`, ""));
}

/** Loads a web configuration beside these files; errors as lines, without the folder. */
export async function loadWeb(yaml: string, files: Files = {}) {
  const folder = await createFolder({ ...files, "web.yaml": yaml });
  const loaded = await loadWebConfig(join(folder, "web.yaml"));
  const sources = loaded.sources.map(({ path }) => basename(path)).toSorted();
  if (loaded.ok) return { config: loaded.config, warnings: loaded.warnings, errors: [], sources };
  return { errors: linesOf(loaded.errors, folder), sources };
}

/** A server with the exporter's routes and a valid web configuration. */
export async function startSecured(yaml: string, files: Files = {}, handler = routes(), routePrefix = "") {
  const folder = await createFolder({ ...files, "web.yaml": yaml });
  const configFile = join(folder, "web.yaml");
  const loaded = await loadWebConfig(configFile);
  if (!loaded.ok) throw new Error(linesOf(loaded.errors, folder).join("\n"));
  const server = createWebServer({
    onPasswordError: () => {},
    routePrefix,
    config: loaded.config,
    configFile,
  });
  onTestFinished(server.stop);
  const started = await server.start([{ host: "127.0.0.1", port: 0 }], handler);
  if (!started.ok) throw new Error(started.errors[0]?.message);
  return {
    port: Number(started.addresses[0]?.split(":").at(-1)),
    stop: server.stop,
    write: (name: string, text: string) => writeFile(join(folder, name), text),
    /** Errors as lines. */
    reload: async (): Promise<readonly string[]> => {
      const prepared = await server.prepare();
      if (prepared.ok) prepared.apply();
      return prepared.ok ? [] : linesOf(prepared.errors, folder);
    },
  };
}
