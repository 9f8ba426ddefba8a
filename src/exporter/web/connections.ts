import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as SecureServer } from "node:https";
import { isIPv6, type Socket } from "node:net";
import { groupBy } from "../../support/group-by.ts";

/**
 * Returns a client's IPv4 address (also if mapped into IPv6), or the first 64 bits of its IPv6 address, since the client may choose the
 * rest.
 */
export function clientOf(address = ""): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [left = [], right] = address
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  return [...left, ...(right === undefined ? [] : Array<string>(8).fill("0"))].slice(0, 4).join(":");
}

/** The maximum of connections of all clients, which is more than any scraping setup needs. */
const MAX_CONNECTIONS = 512;
/** A response is sent within one or two of these intervals. */
const SENDING_MS = 15_000;
/**
 * Node's parser reports every request in a piece that it gets, also after the connection was closed. Node reads 64 KiB at once; from each
 * of 300 clients, such pieces would stop the event loop for seconds.
 */
const PIECE_BYTES = 1024;

export interface ServerConnections {
  /**
   * Lets the handler serve one request at a time for each connection. Limits the connections of all servers together: a new one beyond the
   * limit closes one of the client with the most, if possible one without a pending response, and of these the one whose latest request or
   * response is longest ago. Closes a connection whose response takes 15 to 30 seconds from its first byte to its last. The handler's own
   * time before that does not count, since a reload may take a minute.
   */
  serve(server: Server, handler: RequestListener): void;
  /** Closes idle connections, including those without a request or in a handshake, and the others when they become idle. */
  drain(): void;
}

interface ClientConnection {
  readonly socket: Socket;
  readonly client: string;
  /** The request whose response is not sent yet. */
  readonly pending: IncomingMessage | undefined;
}

export function createServerConnections(limit = MAX_CONNECTIONS): ServerConnections {
  /** The connections by address and port, because TLS delivers requests on another socket object. The latest change is the last one. */
  const connections = new Map<string, ClientConnection>();
  let isDraining = false;

  function change(key: string, pending: IncomingMessage | undefined): void {
    const known = connections.get(key);
    if (known === undefined) return;
    connections.delete(key);
    connections.set(key, { ...known, pending });
    if (isDraining && pending === undefined) known.socket.destroy();
  }

  function accept(socket: Socket): void {
    const key = keyOf(socket);
    connections.set(key, { socket, client: clientOf(socket.remoteAddress), pending: undefined });
    socket.once("close", () => {
      if (connections.get(key)?.socket === socket) connections.delete(key);
    });
    while (connections.size > limit) makeRoom();
  }
  function makeRoom(): void {
    const byClient = groupBy(connections, ([, { client }]) => client);
    const [most = []] = [...byClient.values()].toSorted((one, other) => other.length - one.length);
    // The last connection is new, or has just been used.
    const victim = most.slice(0, -1).find(([, { pending }]) => pending === undefined) ?? most[0];
    if (victim === undefined) return;
    const [key, { socket }] = victim;
    connections.delete(key);
    socket.destroy();
  }

  /** Reads to the end of a request; until its response is sent, further requests and the end of the client's side stay unread. */
  function read(socket: Socket): void {
    const key = keyOf(socket);
    while (!socket.destroyed && connections.has(key) && connections.get(key)?.pending?.complete !== true) {
      // This listener also passes each piece to the parser, as an event.
      const piece: Buffer | null = socket.read(Math.min(socket.readableLength, PIECE_BYTES));
      if (piece === null) return;
    }
  }

  return {
    serve: (server, handler) => {
      // Node has no option for this setting, without which its HTTP server would end a response when the client closes its side.
      Object.assign(server, { httpAllowHalfOpen: true });
      server.on("connection", accept);
      // A listener for this event stops Node from reading by itself.
      const event = server instanceof SecureServer ? "secureConnection" : "connection";
      server.on(event, (socket: Socket) => socket.on("readable", () => read(socket)));
      server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        const { socket } = request;
        const key = keyOf(socket);
        if (socket.destroyed || connections.get(key)?.pending !== undefined) {
          // This request was in the same piece as the one before, whose response is pending.
          socket.destroy();
          return;
        }
        change(key, request.resume());
        let isSending = false;
        const timer = setInterval(() => {
          if (isSending) socket.destroy();
          isSending = response.headersSent;
        }, SENDING_MS);
        response.once("close", () => {
          clearInterval(timer);
          change(key, undefined);
          read(socket);
        });
        handler(request, response);
      });
    },
    drain: () => {
      isDraining = true;
      for (const { socket, pending } of connections.values()) if (pending === undefined) socket.destroy();
    },
  };
}

function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(" ");
}
