import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";

import type { Website } from "../appliance/website-head.ts";
import { closeAtOnce, listen } from "../web/listen.ts";
import { HOST, WEBSITES, type WebsiteName } from "./scenario.ts";

/** PEM texts. */
interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Starts the three websites, real ones on the loopback interface. Returns them as the appliances
 * are configured for them; `stops` get what ends them.
 */
export async function startWebsites(
  tls: KeyPair,
  isDown: (name: WebsiteName) => boolean,
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
    const page = createPage(name, () => isDown(name));
    // The port of a missing protocol is never used.
    const httpPort = protocol === "https" ? 80 : await start(createServer(page));
    const httpsPort = protocol === "http" ? 443 : await start(createSecureServer(tls, page));
    const settings = { isEnabled: true, mode: "protect", bind: ["*"], servers: [] } as const;
    websites.push({ ...website, ...settings, host: HOST, httpPort, httpsPort, path: "/" });
  }
  return websites;
}

function createPage(name: WebsiteName, isDown: () => boolean): RequestListener {
  return (_request, response) => {
    if (isDown()) response.destroy();
    else response.end(`This is the website ${name} of the demo.\n`);
  };
}
