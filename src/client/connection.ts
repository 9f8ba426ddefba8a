import type { Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import { errorCode } from "../support/errors.ts";
import type { PresentedCertificate } from "./certificate.ts";
import { ConnectionError, type Stage } from "./errors.ts";
import type { Connector } from "./connect.ts";

export interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An idle connection is kept this long if the appliance does not end it sooner. */
const IDLE_TIMEOUT_MS = 10 * 60_000;
const HEADERS_LIMIT_BYTES = 16 * 1024;

/**
 * One connection to an appliance, used by one poll at a time and kept between polls. Whoever holds it may destroy it
 * at any moment, in the middle of a handshake too, without touching any other poll.
 */
export interface Connection {
  /**
   * Sends a GET; the first one makes the connection, and none makes another.
   *
   * @throws the error of the runtime or of undici, or a ConnectionError
   */
  request(request: Request): Promise<Dispatcher.ResponseData>;
  /** How far the connection has come. */
  stage(): Stage;
  /** Whether there is a connection that another request may use. */
  isConnected(): boolean;
  /** Bytes that have arrived. */
  bytesRead(): number;
  /** Whether it was made in an earlier period, so that its peer has to be verified anew. */
  isOutdated(): boolean;
  /** Ends everything at once: the request under way, the connection or the attempt to make one. */
  destroy(): void;
}

export interface ConnectionOptions {
  /** `https://host:port` */
  readonly origin: string;
  readonly connector: Connector;
  /** The number of the present period. @see handshakePeriod */
  readonly period: () => number;
  readonly onCertificate: (certificate: PresentedCertificate) => void;
  /** The connection is made, or could not be. */
  readonly onBegun: () => void;
  /** The connection has gone, by itself or by `destroy`; may be called more than once. */
  readonly onGone: () => void;
}

/** A connection that has not connected yet. */
export function createConnection(options: ConnectionOptions): Connection {
  const { origin, connector, period, onCertificate, onBegun, onGone } = options;
  const madeIn = period();
  let stage: Stage = "lookup";
  let mayConnect = true;
  /** Those of the connection and of attempts to make it; TLS is a socket above another one. */
  const sockets: Socket[] = [];
  const socket = (): Socket | undefined => sockets.at(-1);

  const client = new Client(origin, {
    connect: (_options, callback) => {
      if (!mayConnect) {
        const error = socket()?.errored;
        // The library tries again, without end, after an error of its own.
        const isOfSystem = error instanceof Error && "syscall" in error;
        callback(isOfSystem ? error : new ConnectionError("protocol", UNSENT), null);
        return;
      }
      mayConnect = false;
      const watcher = {
        stage: (reached: Stage) => (stage = reached),
        socket: (made: Socket) => {
          sockets.push(made);
          // Whatever it has to say after its connection has ended, or between two owners, nobody waits for.
          made.on("error", () => {});
          made.once("close", onGone);
        },
        certificate: onCertificate,
      };
      connector(watcher)
        .then(
          (connected) => callback(null, connected),
          (error: Error) => callback(error, null),
        )
        .finally(onBegun);
    },
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
    // One deadline spans the whole poll and is the caller's; these would only add two more.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    request: async ({ path, headers }) => {
      try {
        return await client.request({ method: "GET", path, headers });
      } catch (error) {
        throw isAssertedOf(error, socket()) ? new ConnectionError("protocol", UNHEARD_OF) : error;
      }
    },
    stage: () => stage,
    isConnected: () => stage === "connected" && socket()?.destroyed === false,
    bytesRead: () => socket()?.bytesRead ?? 0,
    isOutdated: () => period() !== madeIn,
    destroy: () => {
      client.destroy().catch(() => {});
      // Destroying the client leaves a socket alive that is still connecting.
      for (const made of sockets) made.destroy();
      onGone();
    },
  };
}

const UNSENT = "the connection broke before the request was sent";
const UNHEARD_OF = "no answer to this request can have its status";

/**
 * Whether the error is an assertion about what was read from the socket: the library's parser makes some about an answer
 * that a server is free to break, a status below 100 or a 101 that nobody asked for, and ends the connection with it. An
 * assertion anywhere else is a bug.
 */
function isAssertedOf(error: unknown, socket: Socket | undefined): boolean {
  return errorCode(error) === "ERR_ASSERTION" && socket?.errored === error;
}
