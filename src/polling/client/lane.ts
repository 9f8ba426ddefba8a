import type { Socket } from "node:net";
import { Client, type Dispatcher } from "undici";
import { errorCode } from "../../config/error-code.ts";
import type { PresentedCertificate } from "../observation.ts";
import { ConnectionError } from "./connection-error.ts";
import type { Stage } from "./attempt.ts";
import type { Connector } from "./connector.ts";

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
export interface Lane {
  /**
   * Sends a GET, on the present connection or on one new one.
   *
   * @throws the error of the runtime or of undici, or a ConnectionError
   */
  request(request: Request): Promise<Dispatcher.ResponseData>;
  /** How far the latest connection attempt has come. */
  stage(): Stage;
  /** Connections made since the lane was created. */
  connections(): number;
  /** Bytes that have arrived on the present connection. */
  bytesRead(): number;
  /** Ends everything at once: the request under way, the connection or the attempt to make one. */
  destroy(): void;
}

export interface LaneOptions {
  /** `https://host:port` */
  readonly origin: string;
  readonly connector: Connector;
  readonly onCertificate: (certificate: PresentedCertificate) => void;
}

/** A lane that has not connected yet; it does so at its first request, and again after its connection has gone. */
export function createLane({ origin, connector, onCertificate }: LaneOptions): Lane {
  let stage: Stage = "lookup";
  let connections = 0;
  let sockets: Socket[] = [];
  let mayConnect = false;

  const client = new Client(origin, {
    connect: (_options, callback) => {
      if (!mayConnect) {
        // The library would connect again and again, at once, for a request it could not write.
        callback(new ConnectionError("protocol", "the connection broke before the request was sent"), null);
        return;
      }
      mayConnect = false;
      connections += 1;
      sockets = [];
      const watcher = {
        stage: (reached: Stage) => (stage = reached),
        socket: (socket: Socket) => {
          sockets.push(socket);
          // Whatever it has to say after its lane has ended, or between two owners, nobody waits for.
          socket.on("error", () => {});
        },
        certificate: onCertificate,
      };
      connector(watcher).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
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
      mayConnect = true;
      try {
        return await client.request({ method: "GET", path, headers });
      } catch (error) {
        throw isAssertedOf(error, sockets.at(-1)) ? new ConnectionError("protocol", UNHEARD_OF) : error;
      }
    },
    stage: () => stage,
    connections: () => connections,
    bytesRead: () => sockets.at(-1)?.bytesRead ?? 0,
    destroy: () => {
      client.destroy().catch(() => {});
      // Destroying the client leaves a socket alive that is still connecting.
      for (const socket of sockets) socket.destroy();
    },
  };
}

const UNHEARD_OF = "no answer to this request can have its status";

/**
 * Whether the error is an assertion about what was read from the socket: the library's parser makes some about an answer
 * that a server is free to break, a status below 100 or a 101 that nobody asked for, and ends the connection with it. An
 * assertion anywhere else is a bug.
 */
function isAssertedOf(error: unknown, socket: Socket | undefined): boolean {
  return errorCode(error) === "ERR_ASSERTION" && socket?.errored === error;
}
