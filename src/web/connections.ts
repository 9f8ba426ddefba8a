import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";

/** More than any scraping set-up needs; fewer than would exhaust the descriptors. */
const MAX_CONNECTIONS = 512;

/** Every connection of the servers that it is told of. */
export interface Connections {
  /**
   * Bounds the server's connections: one too many ends the one that has been idle for longest, so that a scrape always
   * gets in; where none is idle, it ends itself. The count is kept over all servers.
   */
  bound(server: Server | SecureServer): void;
  /** Ends all that are idle, those that never sent a request or are in a handshake too, and the others as they become so. */
  drain(): void;
}

interface Connection {
  readonly socket: Socket;
  /** Requests that are not answered yet. */
  readonly underWay: number;
}

export function createConnections(limit = MAX_CONNECTIONS): Connections {
  /** In the order of their last use, by their ends: TLS hands requests over on a socket of its own. */
  const connections = new Map<string, Connection>();
  let isDraining = false;

  function count(ends: string, requests: number): void {
    const known = connections.get(ends);
    if (known === undefined) return;
    connections.delete(ends);
    if (known.socket.destroyed) return;
    const underWay = known.underWay + requests;
    connections.set(ends, { ...known, underWay });
    if (isDraining && underWay === 0) known.socket.destroy();
  }
  function idle(): readonly Connection[] {
    return [...connections.values()].filter(({ underWay }) => underWay === 0);
  }

  return {
    bound: (server) => {
      // The runtime's own, which closing calls, takes an answer that is ended for one that is sent, and cuts it.
      server.closeIdleConnections = () => {};
      server.on("connection", (socket: Socket) => {
        const ends = endsOf(socket);
        connections.set(ends, { socket, underWay: 0 });
        socket.once("close", () => {
          if (connections.get(ends)?.socket === socket) connections.delete(ends);
        });
        if (connections.size > limit) idle()[0]?.socket.destroy();
      });
      server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
        const ends = endsOf(socket);
        count(ends, 1);
        response.once("close", () => count(ends, -1));
      });
    },
    drain: () => {
      isDraining = true;
      for (const { socket } of idle()) socket.destroy();
    },
  };
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(" ");
}
