import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";

import type { Website } from "../appliance/website-head.ts";
import type { Cleanup } from "./cleanup.ts";
import { HOST, startListener, type Listener } from "./listener.ts";
import { WEBSITES, type Condition, type WebsiteName } from "./scenario.ts";

/** PEM texts. */
interface Tls {
  readonly cert: string;
  readonly key: string;
}

type WebsiteSpec = (typeof WEBSITES)[number];

/** A real website on the loopback interface. */
export interface DemoWebsite {
  readonly name: WebsiteName;
  /** Where it listens unless it is `refusing`. */
  readonly urls: readonly string[];
  /** The appliances' configuration of it. */
  readonly tested: Website;
  /** Rejects if its port is in use. */
  setCondition(condition: Condition): Promise<void>;
}

/** Starts the three websites; the cleanup stops them. */
export async function startWebsites(tls: Tls, cleanup: Cleanup): Promise<readonly DemoWebsite[]> {
  const websites: DemoWebsite[] = [];
  for (const spec of WEBSITES) websites.push(await startWebsite(spec, tls, cleanup));
  return websites;
}

async function startWebsite(spec: WebsiteSpec, tls: Tls, cleanup: Cleanup): Promise<DemoWebsite> {
  const { name, protocol } = spec;
  let condition: Condition = "up";
  const isFailing = () => condition === "failing";
  const start = (server: Server) => startListener(server, cleanup);
  const https =
    protocol === "http" ? undefined : await start(createSecureServer(tls, createPage(name, isFailing)));
  // A website with both protocols redirects to https, as most do.
  const location = https && urlOf("https", https);
  const http =
    protocol === "https" ? undefined : await start(createServer(createPage(name, isFailing, location)));
  return {
    name,
    urls: [...(http ? [urlOf("http", http)] : []), ...(location === undefined ? [] : [location])],
    tested: testedAs(spec, http, https),
    setCondition: async (next) => {
      condition = next;
      await setListener(http, next);
      await setListener(https, next);
    },
  };
}

function testedAs({ id, name, protocol }: WebsiteSpec, http?: Listener, https?: Listener): Website {
  // The port of a missing protocol is never used.
  const listeners = { httpPort: http?.port ?? 80, httpsPort: https?.port ?? 443 };
  const port = listeners[protocol === "http" ? "httpPort" : "httpsPort"];
  const server = { protocol: "http", host: HOST, port, role: "active" } as const;
  return {
    id,
    name,
    protocol,
    host: HOST,
    ...listeners,
    path: "/",
    isEnabled: true,
    mode: "protect",
    bind: ["*"],
    servers: [server],
  };
}

async function setListener(listener: Listener | undefined, condition: Condition): Promise<void> {
  await (condition === "refusing" ? listener?.close() : listener?.open());
}

function createPage(name: WebsiteName, isFailing: () => boolean, location?: string): RequestListener {
  return (_request, response) => {
    if (isFailing()) response.writeHead(503);
    else if (location !== undefined) response.writeHead(301, { location });
    else response.writeHead(200, { "content-type": "text/plain" });
    response.end(`This is the website ${name} of the demo.\n`);
  };
}

function urlOf(scheme: "http" | "https", { port }: Listener): string {
  return `${scheme}://${HOST}:${port}/`;
}
