import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import { isIPv6, type Socket } from "node:net";

/**
 * Who counts as one client, by its address: an IPv4 address, also where IPv6 carries it, or the first 64 bits of an IPv6
 * address, all of whose further bits one machine may choose.
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

/** More than any scraping set-up needs; fewer than would exhaust the descriptors. */
const MAX_CONNECTIONS = 512;
/** From a request to the last byte of its answer. */
const ANSWER_TIMEOUT_MS = 30_000;
/** An answer or a pause between requests that has lasted for so long is slow. */
const SLOW_MS = 2000;

/** Every connection of the servers that it is given. */
export interface Connections {
  /**
   * Bounds the server's connections, counted over all servers: one too many ends another one, see `connectionToEnd`. Ends
   * a connection whose answer is not sent within 30 seconds.
   */
  bound(server: Server | SecureServer): void;
  /** Ends all that are idle, those that never sent a request or are in a handshake too, and the others as they become so. */
  drain(): void;
}

export interface ConnectionState {
  /** By `clientOf`. */
  readonly client: string;
  /** Whether a request is not answered yet. */
  readonly isAnswering: boolean;
  /** Monotonic: the latest request, the end of its answer, or the start of the connection. */
  readonly sinceMs: number;
}

/**
 * Which connection makes room for a new one: of a client that has most, one that is slow rather than one that is not,
 * then one that is idle, then the oldest state. `undefined` if there are none.
 */
export function connectionToEnd<T extends ConnectionState>(
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
  /** By their ends: TLS hands requests over on a socket of its own. */
  const connections = new Map<string, Connection>();
  let isDraining = false;

  function change(ends: string, isAnswering: boolean): void {
    const known = connections.get(ends);
    if (known === undefined || known.socket.destroyed) return;
    connections.set(ends, { ...known, isAnswering, sinceMs: performance.now() });
    if (isDraining && !isAnswering) known.socket.destroy();
  }

  return {
    bound: (server) => {
      // The runtime's own, which closing calls, takes an answer that is ended for one that is sent, and cuts it.
      server.closeIdleConnections = () => {};
      server.on("connection", (socket: Socket) => {
        const ends = endsOf(socket);
        const others = [...connections.values()];
        const nowMs = performance.now();
        const client = clientOf(socket.remoteAddress);
        connections.set(ends, { socket, client, isAnswering: false, sinceMs: nowMs });
        socket.once("close", () => {
          if (connections.get(ends)?.socket === socket) connections.delete(ends);
        });
        if (connections.size > limit) connectionToEnd(others, nowMs)?.socket.destroy();
      });
      server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
        const ends = endsOf(socket);
        change(ends, true);
        response.once("close", () => change(ends, false));
        limitTime(socket, response);
      });
    },
    drain: () => {
      isDraining = true;
      for (const { socket, isAnswering } of connections.values()) if (!isAnswering) socket.destroy();
    },
  };
}

function limitTime(socket: Socket, response: ServerResponse): void {
  const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT_MS);
  response.once("close", () => clearTimeout(timer));
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(" ");
}
