import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";

/** More than any scraping set-up needs; fewer than would exhaust the descriptors. */
const MAX_CONNECTIONS = 512;

/**
 * Bounds a server's connections: one too many ends the one that has been idle for longest, so that a scrape always gets
 * in; where none is idle, it ends itself. The count is kept over all servers that share the limiter.
 */
export function createConnectionLimiter(limit = MAX_CONNECTIONS): (server: Server | SecureServer) => void {
  /** In the order of their last use, by their ends: TLS hands requests over on a socket of its own. */
  const connections = new Map<string, { readonly socket: Socket; readonly isBusy: boolean }>();

  function touch(ends: string, isBusy: boolean): void {
    const known = connections.get(ends);
    if (known === undefined) return;
    connections.delete(ends);
    if (!known.socket.destroyed) connections.set(ends, { ...known, isBusy });
  }
  function makeRoom(): void {
    if (connections.size <= limit) return;
    const idle = [...connections.values()].find(({ isBusy }) => !isBusy);
    idle?.socket.destroy();
  }

  return (server) => {
    server.on("connection", (socket: Socket) => {
      const ends = endsOf(socket);
      connections.set(ends, { socket, isBusy: false });
      socket.once("close", () => {
        if (connections.get(ends)?.socket === socket) connections.delete(ends);
      });
      makeRoom();
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const ends = endsOf(socket);
      touch(ends, true);
      response.once("close", () => touch(ends, false));
    });
  };
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(" ");
}
