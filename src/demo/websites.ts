import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";

import type { Website } from "../appliance/website-head.ts";
import { closeAtOnce, listen } from "../web/listen.ts";
import { HOST, WEBSITES, type Condition, type WebsiteName } from "./scenario.ts";

/** PEM texts. */
interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Starts the three websites, real ones on the loopback interface, in their present conditions. Returns them as the appliances
 * are configured for them; `stops` get what ends them.
 */
export async function startWebsites(
  tls: KeyPair,
  conditionOf: (name: WebsiteName) => Condition,
  stops: (() => Promise<void>)[],
): Promise<readonly Website[]> {
  const start = async (server: Server): Promise<number> => {
    const { port } = await listen(server, { host: HOST, port: 0 });
    stops.push(() => closeAtOnce(server));
    return port;
  };
  const websites: Website[] = [];
  for (const website of WEBSITES) {
    const { name, protocol } = website;
    const page = createPage(name, () => conditionOf(name));
    // The port of a missing protocol is never used.
    const httpPort = protocol === "https" ? 80 : await start(createServer(page));
    const httpsPort = protocol === "http" ? 443 : await start(createSecureServer(tls, page));
    const settings = { isEnabled: true, mode: "protect", bind: ["*"], servers: [] } as const;
    websites.push({ ...website, ...settings, host: HOST, httpPort, httpsPort, path: "/" });
  }
  return websites;
}

function createPage(name: WebsiteName, condition: () => Condition): RequestListener {
  return (_request, response) => {
    if (condition() === "hanging up") {
      response.destroy();
      return;
    }
    response.writeHead(condition() === "failing" ? 503 : 200, { "content-type": "text/plain" });
    response.end(`This is the website ${name} of the demo.\n`);
  };
}
