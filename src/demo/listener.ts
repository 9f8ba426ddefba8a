import { randomInt } from "node:crypto";
import type { Server } from "node:http";

import { closeAtOnce, listen } from "../web/listen.ts";
import type { Cleanup } from "./cleanup.ts";

/** The demo is reachable on this machine only. */
export const HOST = "127.0.0.1";

/** Below the range of ephemeral ports: no outgoing connection takes the port while the listener is closed. */
const PORTS = { from: 20_000, to: 32_000 };
const MAX_ATTEMPTS = 50;

/** A server that can stop listening and later listen on the same port. */
export interface Listener {
  readonly port: number;
  /** Rejects if the port is in use. */
  open(): Promise<void>;
  /** Also ends every connection. */
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface; the cleanup closes it. */
export async function startListener(server: Server, cleanup: Cleanup): Promise<Listener> {
  const port = await listenSomewhere(server);
  cleanup.add(() => closeAtOnce(server));
  return {
    port,
    open: async () => {
      if (!server.listening) await listen(server, { host: HOST, port });
    },
    close: () => closeAtOnce(server),
  };
}

async function listenSomewhere(server: Server): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    try {
      await listen(server, { host: HOST, port });
      return port;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
