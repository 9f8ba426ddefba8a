import { request, type IncomingHttpHeaders } from "node:http";
import type { Agent, RequestListener } from "node:http";

import { onTestFinished } from "vitest";

import { WHOLE_FLEET } from "../../src/config/shard.ts";
import { startWebServer } from "../../src/web/server.ts";
import type { FleetDocument } from "../../src/status/schema.ts";
import { createRoutes, type RouteDeps } from "../../src/web/routes.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** Sends a request to a server on the loopback interface. */
export function ask(
  port: number,
  path: string,
  { method = "GET", headers = {}, agent }: AskOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, method, headers, agent: agent ?? false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

/** Serves on a free port of the loopback interface until the test ends. */
export async function serve(handler: RequestListener): Promise<number> {
  const started = await startWebServer([{ host: "127.0.0.1", port: 0 }], handler);
  if (!started.ok) throw new Error(started.code);
  onTestFinished(() => started.server.stop());
  return Number(started.server.addresses[0]?.split(":").at(-1));
}

export const EMPTY_DOCUMENT: FleetDocument = {
  verdict: "unknown",
  exporter: { version: "1.2.3", startedAt: "2023-11-14T22:13:20.000Z", shard: WHOLE_FLEET },
  problems: [],
  clusters: [],
  events: [],
};

/** Routes with arbitrary dependencies. */
export function routes(given: Partial<RouteDeps> = {}): RequestListener {
  return createRoutes({
    telemetryPath: "/metrics",
    renderMetrics: () => Promise.resolve("x 1\n"),
    document: () => EMPTY_DOCUMENT,
    renderPage: () => "",
    assets: new Map(),
    isHealthy: () => true,
    isReady: () => true,
    configText: () => "appliances: []\n",
    reload: undefined,
    onError: () => {},
    ...given,
  });
}

/** A promise that the test resolves. */
export interface Held<T> {
  readonly promise: Promise<T>;
  release(value: T): void;
}

export function held<T>(): Held<T> {
  const waiting: ((value: T) => void)[] = [];
  const promise = new Promise<T>((resolve) => void waiting.push(resolve));
  return {
    promise,
    release: (value) => {
      for (const resolve of waiting) resolve(value);
    },
  };
}
