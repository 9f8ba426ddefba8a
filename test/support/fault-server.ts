import { randomInt } from "node:crypto";
import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** One connection that a client made. */
export interface Connection {
  /** The TLS socket if the server uses TLS. */
  readonly socket: Socket;
  /** Calls back when the head of a request is complete; `nth`: its number on this connection, from 1. */
  onRequest(listener: (request: SeenRequest, nth: number) => void): void;
}

/** What the server does with each connection. */
export type Behaviour = (connection: Connection) => void;

export interface SeenRequest {
  readonly atMs: number;
  /** `/api/v1/interface/virtual` */
  readonly path: string;
  /** Request line and header lines. */
  readonly head: string;
}

/** A misbehaving server on the loopback interface that records what clients did. */
export interface FaultServer {
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  /** Total number of connections. */
  connections(): number;
  /** Number of open connections. */
  openConnections(): number;
  /** Everything that clients have taken in. */
  bytesSent(): number;
  /** Changes the behavior of new connections. */
  behave(behaviour: Behaviour): void;
  /** Changes the TLS settings of new handshakes; sessions with the same `ticketKeys` can be resumed. */
  secure(tls: TlsOptions): void;
  stop(): Promise<void>;
}

/** Serves on 127.0.0.1; with TLS options, over TLS. */
export async function startFaultServer(behaviour: Behaviour, tls?: TlsOptions): Promise<FaultServer> {
  const open = new Set<Socket>();
  const requests: SeenRequest[] = [];
  let current = behaviour;
  let connections = 0;
  let bytesOfClosed = 0;

  const take = (socket: Socket): void => {
    socket.on("error", () => {});
    current(connectionOf(socket, requests));
  };
  const tlsServer = tls === undefined ? undefined : createTlsServer(tls, take);
  const server = tlsServer ?? createTcpServer(take);
  server.on("connection", (raw: Socket) => {
    connections += 1;
    open.add(raw);
    raw.on("error", () => {});
    raw.once("close", () => {
      open.delete(raw);
      bytesOfClosed += raw.bytesWritten - raw.writableLength;
    });
  });
  await listen(server);

  return {
    port: portOf(server),
    requests,
    connections: () => connections,
    openConnections: () => open.size,
    bytesSent: () =>
      bytesOfClosed + [...open].reduce((sum, raw) => sum + raw.bytesWritten - raw.writableLength, 0),
    behave: (next) => {
      current = next;
    },
    secure: (next) => tlsServer?.setSecureContext(next),
    stop: async () => {
      for (const raw of open) raw.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function connectionOf(socket: Socket, requests: SeenRequest[]): Connection {
  const listeners: ((request: SeenRequest, nth: number) => void)[] = [];
  let text = "";
  let count = 0;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      const request = { atMs: performance.now(), path: head.split(" ")[1] ?? "", head };
      requests.push(request);
      count += 1;
      for (const listener of listeners) listener(request, count);
    }
  });
  return { socket, onRequest: (listener) => void listeners.push(listener) };
}

/**
 * A port of the loopback interface that nobody listens on. It lies below those that systems choose from, so that no test
 * beside this one gets it while it is free, and above those that fetch refuses (the last one is 10080).
 */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = randomInt(10_081, 32_768);
  const isFree = await listen(server, port).then(
    () => true,
    () => false,
  );
  if (!isFree) return closedPort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A port whose SYNs the kernel swallows: its listener never accepts, and its queue is full. */
export async function startSynSwallower(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const blocked = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(BLOCKED_LISTENER, { eval: true, workerData: blocked });
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  // One more than a backlog of 1 holds; a further one waits forever.
  const fillers = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    }),
  );
  return {
    port,
    stop: async () => {
      for (const filler of fillers) filler.destroy();
      Atomics.store(blocked, 0, 1);
      Atomics.notify(blocked, 0);
      await once(worker, "exit");
    },
  };
}

const BLOCKED_LISTENER = `
const { parentPort, workerData } = require("node:worker_threads");
const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(workerData, 0, 0);
  process.exit();
});
`;

async function listen(server: Server, port = 0): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no TCP server that listens");
  return address.port;
}
