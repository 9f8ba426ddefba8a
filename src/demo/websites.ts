import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";

import type { Website } from "../appliance/website-head.ts";
import { closeAtOnce, listen } from "../web/listen.ts";
import type { Cleanup } from "./cleanup.ts";
import { HOST, WEBSITES, type Condition, type WebsiteName } from "./scenario.ts";

/** PEM texts. */
interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** A real website on the loopback interface. */
export interface DemoWebsite {
  readonly name: WebsiteName;
  readonly urls: readonly string[];
  /** The appliances' configuration of it. */
  readonly tested: Website;
}

/** Starts the three websites, in their present conditions; the cleanup stops them. */
export async function startWebsites(
  tls: Tls,
  conditionOf: (name: WebsiteName) => Condition,
  cleanup: Cleanup,
): Promise<readonly DemoWebsite[]> {
  const start = async (server: Server): Promise<number> => {
    const { port } = await listen(server, { host: HOST, port: 0 });
    cleanup.add(() => closeAtOnce(server));
    return port;
  };
  const websites: DemoWebsite[] = [];
  for (const { id, name, protocol } of WEBSITES) {
    const pageOf = (location?: string) => createPage(name, () => conditionOf(name), location);
    // The port of a missing protocol is never used.
    const httpsPort = protocol === "http" ? 443 : await start(createSecureServer(tls, pageOf()));
    const https = protocol === "http" ? [] : [`https://${HOST}:${httpsPort}/`];
    // A website with both protocols redirects to https, as most do.
    const httpPort = protocol === "https" ? 80 : await start(createServer(pageOf(https[0])));
    const http = protocol === "https" ? [] : [`http://${HOST}:${httpPort}/`];
    const port = protocol === "http" ? httpPort : httpsPort;
    const tested: Website = {
      id,
      name,
      protocol,
      host: HOST,
      httpPort,
      httpsPort,
      path: "/",
      isEnabled: true,
      mode: "protect",
      bind: ["*"],
      servers: [{ protocol: "http", host: HOST, port, role: "active" }],
    };
    websites.push({ name, urls: [...http, ...https], tested });
  }
  return websites;
}

function createPage(name: WebsiteName, condition: () => Condition, location?: string): RequestListener {
  return (_request, response) => {
    if (condition() === "hanging up") {
      response.destroy();
      return;
    }
    if (condition() === "failing") response.writeHead(503);
    else if (location !== undefined) response.writeHead(301, { location });
    else response.writeHead(200, { "content-type": "text/plain" });
    response.end(`This is the website ${name} of the demo.\n`);
  };
}
