import type { Socket } from "node:net";
// The package's entry also loads fetch, caches and mocks: a fifth of the time that a start takes.
import Client from "undici/lib/dispatcher/client.js";
import { errorCode } from "../support/errors.ts";
import type { Connector } from "./connect.ts";
import { classifyError, ConnectionError, describeError, type Stage } from "./errors.ts";
import { exchange, type Answer, type Request } from "./exchange.ts";

/** How long an idle connection is kept, unless the appliance says less: until it is outdated. */
const IDLE_TIMEOUT_MS = 60 * 60_000;
const HEADERS_LIMIT_BYTES = 16 * 1024;

/**
 * One connection to an appliance, used by one poll at a time and kept between polls. It can be destroyed at any time,
 * even during a handshake, without affecting another poll.
 */
export interface Connection {
  /** Sends a GET and reads its answer. The first one connects; later ones never reconnect. Never rejects. */
  send(request: Request): Promise<Answer>;
  /** The stage that the connection has reached. */
  stage(): Stage;
  /** Whether another request can use the connection. */
  isConnected(): boolean;
  /** Number of bytes received. */
  bytesRead(): number;
  /** Whether it was opened in an earlier period, so that its peer must be verified again. */
  isOutdated(): boolean;
  /** Immediately ends the request in flight and the connection, or the attempt to connect. */
  destroy(): void;
}

export interface ConnectionOptions {
  /** `https://host:port` */
  readonly origin: string;
  readonly connector: Connector;
  readonly wallMs: () => number;
  /** Called when the attempt to connect has succeeded or failed. */
  readonly onAttemptEnded: () => void;
  /** Called when the connection has closed, by itself or by `destroy`; possibly more than once. */
  readonly onClosed: () => void;
}

/** Creates a connection that connects at its first request. */
export function createConnection(options: ConnectionOptions): Connection {
  const { origin, connector, wallMs, onAttemptEnded, onClosed } = options;
  const madeIn = connector.period();
  let stage: Stage = "lookup";
  let mayConnect = true;
  /** All sockets of the connection and of attempts to connect; a TLS socket wraps another one. */
  const sockets: Socket[] = [];
  const socket = (): Socket | undefined => sockets.at(-1);

  const client = new Client(origin, {
    connect: (_options, callback) => {
      if (!mayConnect) {
        const error = socket()?.errored;
        // undici retries forever after an error of its own.
        const isOfSystem = error instanceof Error && "syscall" in error;
        callback(isOfSystem ? error : new ConnectionError("protocol", UNSENT), null);
        return;
      }
      mayConnect = false;
      const watcher = {
        stage: (reached: Stage) => (stage = reached),
        socket: (made: Socket) => {
          sockets.push(made);
          // Errors without another listener are irrelevant: the connection has ended, or changes its owner.
          made.on("error", () => {});
          made.once("close", onClosed);
        },
      };
      connector
        .connect(watcher)
        .then(
          (connected) => callback(null, connected),
          (error: Error) => callback(error, null),
        )
        .finally(onAttemptEnded);
    },
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
    // The caller has one deadline for the whole poll.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    send: async (request) => {
      try {
        return await exchange(client, request, wallMs());
      } catch (thrown) {
        // undici's parser asserts that an answer has no status below 100 and no unexpected 101.
        const isStatus = errorCode(thrown) === "ERR_ASSERTION";
        const error = isStatus ? new ConnectionError("protocol", INVALID_STATUS) : thrown;
        return { ok: false, failure: { reason: classifyError(error, stage), message: describeError(error) } };
      }
    },
    stage: () => stage,
    isConnected: () => stage === "connected" && socket()?.destroyed === false,
    bytesRead: () => socket()?.bytesRead ?? 0,
    isOutdated: () => connector.period() !== madeIn,
    destroy: () => {
      client.destroy().catch(() => {});
      // client.destroy does not close a socket that is still connecting.
      for (const made of sockets) made.destroy();
      onClosed();
    },
  };
}

const UNSENT = "the connection broke before the request was sent";
const INVALID_STATUS = "the answer has a status that is invalid for this request";
