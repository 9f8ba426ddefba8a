import type { Server } from "node:http";
import type { Socket } from "node:net";

/** More than any scraping set-up needs; fewer than would exhaust the descriptors. */
const MAX_CONNECTIONS = 512;

/**
 * Bounds a server's connections: one too many ends the one that has been idle for longest, so that a scrape always gets
 * in; where none is idle, it ends itself. The count is kept over all servers that share the limiter.
 */
export function createConnectionLimiter(limit = MAX_CONNECTIONS): (server: Server) => void {
  /** In the order of their last use. */
  const sockets = new Map<Socket, { isBusy: boolean }>();

  function touch(socket: Socket, isBusy: boolean): void {
    sockets.delete(socket);
    if (!socket.destroyed) sockets.set(socket, { isBusy });
  }
  function makeRoom(): void {
    if (sockets.size <= limit) return;
    const idle = [...sockets].find(([, { isBusy }]) => !isBusy);
    idle?.[0].destroy();
  }

  return (server) => {
    server.on("connection", (socket) => {
      touch(socket, false);
      socket.once("close", () => sockets.delete(socket));
      makeRoom();
    });
    server.on("request", ({ socket }, response) => {
      touch(socket, true);
      response.once("close", () => touch(socket, false));
    });
  };
}
