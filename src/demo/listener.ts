import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";

import type { Cleanup } from "./cleanup.ts";

/** The loopback interface: the demo shows itself to nobody else. */
export const HOST = "127.0.0.1";

/** Below the range from which systems take ports for outgoing connections: none takes ours while we do not listen. */
const PORTS = { from: 20_000, to: 32_000 };
const MAX_ATTEMPTS = 50;

/** A server that can stop listening and come back on its port. */
export interface Listener {
  readonly port: number;
  /** Rejects where somebody else has taken the port. */
  open(): Promise<void>;
  /** Ends every connection, too. */
  close(): Promise<void>;
}

/** Listens on a free port of the loopback interface; the cleanup closes it. */
export async function startListener(server: Server, cleanup: Cleanup): Promise<Listener> {
  const port = await listenSomewhere(server);
  cleanup.add(() => close(server));
  return { port, open: () => listen(server, port), close: () => close(server) };
}

async function listenSomewhere(server: Server): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    try {
      await listen(server, port);
      return port;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function listen(server: Server, port: number): Promise<void> {
  if (server.listening) return;
  server.listen(port, HOST);
  await once(server, "listening");
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
