import type { RequestListener } from "node:http";
import type { Checked } from "../config/errors.ts";
import type { Preparation } from "../config/reload.ts";
import type { Source } from "../config/sources.ts";
import { protect } from "./guard.ts";
import { underPrefix } from "./paths.ts";
import type { ListenAddress } from "./listen.ts";
import { startWebServer, type WebServer, type WebStart } from "./server.ts";
import type { WebConfig, WebConfigResult } from "./web-config.ts";

/** The exporter's web server with its web configuration. */
export interface SecuredWeb {
  /** What the first load has read; empty without a web configuration. */
  readonly sources: readonly Source[];
  /** `routePrefix`: see `underPrefix`; `maxConnections`: simultaneous connections of clients, 512 by default. */
  start(
    listeners: readonly ListenAddress[],
    handler: RequestListener,
    routePrefix: string,
    maxConnections?: number,
  ): Promise<WebStart>;
  /** Reads the web configuration again; nothing changes before `apply`. */
  prepare(): Promise<Preparation>;
}

const NEEDS_RESTART = {
  path: "tls_server_config",
  message: "TLS can be turned on or off only by a restart",
};
const UNPROTECTED: WebConfig = { tls: undefined, users: new Map(), headers: {} };

/** Loads the web configuration, if there is one; the server listens only after `start`. */
export async function loadSecuredWeb(
  file: string | undefined,
): Promise<Checked<{ readonly web: SecuredWeb }>> {
  const load = async (): Promise<WebConfigResult> => {
    if (file === undefined) return { ok: true, config: UNPROTECTED, sources: [] };
    // Only here: most exporters have none, and need no YAML library in this thread.
    const { loadWebConfig } = await import("./web-config.ts");
    return loadWebConfig(file);
  };
  const loaded = await load();
  if (!loaded.ok) return loaded;
  let current: WebConfig = loaded.config;
  let server: WebServer | undefined;

  function apply(next: WebConfig): void {
    if (next.tls !== undefined) server?.secure(next.tls);
    current = next;
  }

  return {
    ok: true,
    web: {
      sources: loaded.sources,
      start: async (listeners, handler, routePrefix, maxConnections) => {
        // The guard is outermost: paths outside the prefix require a password too.
        const served = protect(underPrefix(routePrefix, handler), routePrefix, () => current);
        const started = await startWebServer(listeners, served, current.tls, maxConnections);
        if (started.ok) server = started.server;
        return started;
      },
      prepare: async () => {
        const next = await load();
        if (!next.ok) return next;
        const { config, sources } = next;
        if ((config.tls === undefined) !== (current.tls === undefined)) {
          return { ok: false, errors: [{ file: file ?? "", ...NEEDS_RESTART }], sources };
        }
        return { ok: true, apply: () => apply(config), sources };
      },
    },
  };
}
