import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import { isIPv6, type Socket } from "node:net";

/**
 * Identifies a client: its IPv4 address (also if mapped into IPv6), or the first 64 bits of its IPv6 address, because a
 * machine may choose the rest.
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

/** More than any scraping setup needs. */
const MAX_CONNECTIONS = 512;
/** From a request to the last byte of its response. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** A response or an idle period that lasts longer is slow. */
const SLOW_MS = 2000;

/** The connections of several servers. */
export interface Connections {
  /**
   * Limits the connections of all servers together: a new one beyond the limit closes another, see `connectionToClose`.
   * Closes a connection whose response is not sent within 30 seconds.
   */
  limit(server: Server | SecureServer): void;
  /** Closes idle connections, including those without a request or in a handshake, and the others when they become idle. */
  drain(): void;
}

export interface ConnectionState {
  /** From `clientOf`. */
  readonly client: string;
  /** Whether a response is pending. */
  readonly isAnswering: boolean;
  /** Monotonic: the latest request, the end of its response, or the start of the connection. */
  readonly sinceMs: number;
}

/**
 * The connection to close for a new one: of the clients with the most connections, a slow one first, then an idle one,
 * then the one whose state is oldest. `undefined` if there are none.
 */
export function connectionToClose<T extends ConnectionState>(
  connections: readonly T[],
  nowMs: number,
): T | undefined {
  const counts = new Map<string, number>();
  for (const { client } of connections) counts.set(client, (counts.get(client) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const isFresh = ({ sinceMs }: T): number => Number(nowMs - sinceMs < SLOW_MS);
  const [first] = connections
    .filter(({ client }) => counts.get(client) === most)
    .toSorted(
      (one, other) =>
        isFresh(one) - isFresh(other) ||
        Number(one.isAnswering) - Number(other.isAnswering) ||
        one.sinceMs - other.sinceMs,
    );
  return first;
}

interface Connection extends ConnectionState {
  readonly socket: Socket;
}

export function createConnections(limit = MAX_CONNECTIONS): Connections {
  /** By addresses and ports, because TLS delivers requests on another socket object. */
  const connections = new Map<string, Connection>();
  let isDraining = false;

  function change(key: string, isAnswering: boolean): void {
    const known = connections.get(key);
    if (known === undefined || known.socket.destroyed) return;
    connections.set(key, { ...known, isAnswering, sinceMs: performance.now() });
    if (isDraining && !isAnswering) known.socket.destroy();
  }

  return {
    limit: (server) => {
      // Node calls this on close; its own version cuts responses that are ended but not fully sent.
      server.closeIdleConnections = () => {};
      server.on("connection", (socket: Socket) => {
        const key = keyOf(socket);
        const others = [...connections.values()];
        const nowMs = performance.now();
        const client = clientOf(socket.remoteAddress);
        connections.set(key, { socket, client, isAnswering: false, sinceMs: nowMs });
        socket.once("close", () => {
          if (connections.get(key)?.socket === socket) connections.delete(key);
        });
        if (connections.size > limit) connectionToClose(others, nowMs)?.socket.destroy();
      });
      server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
        const key = keyOf(socket);
        change(key, true);
        const timer = setTimeout(() => socket.destroy(), RESPONSE_TIMEOUT_MS);
        response.once("close", () => {
          clearTimeout(timer);
          change(key, false);
        });
      });
    },
    drain: () => {
      isDraining = true;
      for (const { socket, isAnswering } of connections.values()) if (!isAnswering) socket.destroy();
    },
  };
}

function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(" ");
}
