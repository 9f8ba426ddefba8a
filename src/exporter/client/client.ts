import type { Redact } from "../api/text.ts";
import type { ApplianceConfig } from "../config/config.ts";
import type { Clock } from "../../support/clock.ts";
import { bareHost } from "../../support/address.ts";
import { describeBug } from "../../support/errors.ts";
import { createAttention } from "./attention.ts";
import { createTlsContexts, type PresentedCertificate } from "./tls.ts";
import { createConnector } from "./connect.ts";
import { createConnection, type HttpResponse, type Connection } from "./connection.ts";
import { createConnections, type Precedence } from "./connections.ts";
import { createCredentials, createPasswordReader } from "./credentials.ts";
import type { FailureReason, Outcome } from "../api/failure.ts";
import { DEADLINE_FAILURES } from "./failure.ts";
import { createLookup, type Lookup } from "./lookup.ts";

/** The body of an answer, as received. */
export interface Body {
  readonly bytes: Uint8Array;
  /** Replaces the credentials that were sent. Every text of the answer must pass through this function before use. */
  readonly redact: Redact;
  /** The address that answered, canonical and without a zone; `undefined` if a proxy has looked up the name. */
  readonly peerAddress?: string | undefined;
}

export type ReceivedAnswer = HttpResponse & Omit<Body, "bytes">;

/** Queries one appliance over a pool of connections. */
export interface ApplianceClient {
  /**
   * Makes one GET, from reading the password file to the last byte, within `timeoutMs`. The wait for a connection, up to
   * `connectionWaitMs`, does not count, nor does a stall of this process. At the deadline the connection is closed. Retries
   * once if the appliance had closed the idle connection. Never rejects. @see Attention, ConnectionPool
   */
  get(path: string, timeoutMs: number, options?: GetOptions): Promise<Outcome<Body>>;
  /** Makes one POST of a JSON text, as `get` makes a GET. The message of a refusal is the text of the answer. */
  post(path: string, json: string, timeoutMs: number): Promise<Outcome<Body>>;
  /** Returns the certificate presented last, trusted or not. */
  certificate(): PresentedCertificate | undefined;
  /** Whether the credentials differ from those refused last; false if they cannot be read, or not within `timeoutMs`. */
  hasNewCredentials(timeoutMs: number): Promise<boolean>;
  /** Ends all connections and all polls in flight. */
  close(): void;
}

export interface GetOptions {
  /** The priority of the poll among others that wait for a connection; default: `list`. */
  readonly precedence?: Precedence;
  /** The longest wait for a connection, after which the poll fails as `local`; default: no limit. */
  readonly connectionWaitMs?: number | undefined;
  /** The largest size of a body. A longer body is `too_large`; default: 256 KiB. */
  readonly bodyLimitBytes?: number;
  /**
   * Receives, when `timeoutMs` begins to count, a function that ends the request. It is called once, or never if the client is closed
   * before.
   */
  readonly onStarted?: ((end: () => void) => void) | undefined;
  /** Receives a symbol for the credentials before the request is sent; equal symbols mean equal credentials. */
  readonly onCredentials?: ((credentials: symbol) => void) | undefined;
  /** Receives each answer of any status. Without this callback, the body of an error is not read. */
  readonly onAnswer?: ((answer: ReceivedAnswer) => void) | undefined;
}

/** The options of a request; `json` is the body of a POST. */
type SendOptions = GetOptions & { readonly json?: string };

const BODY_LIMIT_BYTES = 256 * 1024;

export interface Endpoint extends Pick<ApplianceConfig, "baseUrl" | "http"> {
  /** The path of a Unix socket, in place of the host and the port of `baseUrl`. */
  readonly socketPath?: string | undefined;
}
export type CreateClient = (endpoint: Endpoint) => ApplianceClient;

export interface ClientsOptions {
  /** The program's version, for the User-Agent header. */
  readonly version: string;
  /** The number of name lookups at the same time. Each lookup uses one of the threads that files and compression share. */
  readonly maxLookups: number;
  /** The number of reads of password files at the same time. Each read uses one of these threads too. */
  readonly maxPasswordReads: number;
  /** Returns the maximum of open connections to appliances at present; default: unlimited. */
  readonly maxConnections?: () => number;
  /** Headers of each request, besides those of every client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The lookup of names; default: the system's resolver. */
  readonly lookup?: Lookup;
}

/**
 * Creates the maker of clients. The clients share name lookups, reads of password files, secure contexts and the limits of connections. An
 * appliance cannot affect another one through them.
 */
export function createClients(options: ClientsOptions, clock: Clock): CreateClient {
  const {
    version,
    maxConnections = () => Number.POSITIVE_INFINITY,
    lookup = createLookup(options.maxLookups),
  } = options;
  const attention = createAttention(clock);
  const createPool = createConnections(attention, clock, maxConnections);
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": `appliance-exporter/${version}`,
    ...options.headers,
  };
  const readerOf = createCredentials(createPasswordReader(options.maxPasswordReads, clock), headers);
  const tlsContextOf = createTlsContexts();

  /** Returns the result of the work, which never rejects, or the result of `onOver` if the deadline passes before. */
  function within<T>(timeoutMs: number, work: Promise<T>, onOver: () => T): Promise<T> {
    return new Promise((resolve) => {
      const end = attention.deadline(timeoutMs, () => resolve(onOver()));
      void work.finally(end).then(resolve);
    });
  }

  return ({ baseUrl, http, socketPath }) => {
    const url = new URL(baseUrl);
    const isTls = url.protocol === "https:";
    const connector = createConnector({
      host: bareHost(url.hostname),
      port: Number(url.port || (isTls ? 443 : 80)),
      socketPath,
      proxy: http.proxy,
      tls: isTls ? { config: http.tls, context: tlsContextOf(http.tls) } : undefined,
      lookup,
      clock,
    });
    const pool = createPool((callbacks) =>
      createConnection({ ...callbacks, origin: url.origin, connector, clock }),
    );
    const pathPrefix = url.pathname.replace(/\/+$/, "");
    const readCredentials = readerOf(http.basicAuth);
    let refused: symbol | undefined;

    /** Gives the connection back, or ends it if it cannot be used again. */
    function sendOver(
      connection: Connection,
      path: string,
      timeoutMs: number,
      { bodyLimitBytes = BODY_LIMIT_BYTES, onCredentials, onAnswer, json }: SendOptions,
    ): Promise<Outcome<Body>> {
      /** This is false while only the password is read. */
      let isSent = false;
      async function exchange(): Promise<Outcome<Body>> {
        const read = await readCredentials();
        if (!read.ok) {
          pool.giveBack(connection);
          return read;
        }
        const { id, headers: sent, redact } = read.value;
        isSent = true;
        onCredentials?.(id);
        const answer = await connection.send({
          path: pathPrefix + path,
          headers: sent,
          bodyLimitBytes,
          json,
          onAnswer:
            onAnswer &&
            ((received) => onAnswer({ peerAddress: connection.peerAddress(), redact, ...received })),
        });
        if (!answer.ok) {
          connection.destroy();
          const { failure } = answer;
          if (failure.reason === "auth") refused = id;
          return { ok: false, failure: { ...failure, message: redact(failure.message) } };
        }
        pool.giveBack(connection);
        return { ok: true, value: { peerAddress: connection.peerAddress(), bytes: answer.value, redact } };
      }
      const sending = exchange().catch((error: unknown) => failed("internal", describeBug(error)));
      return within(timeoutMs, sending, () => {
        const { reason, message } = DEADLINE_FAILURES[isSent ? connection.stage() : "password"];
        const refusal = isSent && onAnswer !== undefined ? connection.refusal() : undefined;
        connection.destroy();
        if (refusal !== undefined) return { ok: false, failure: refusal };
        return failed(reason, `no complete answer within ${timeoutMs} ms; ${message}`);
      });
    }

    async function send(path: string, timeoutMs: number, given: SendOptions): Promise<Outcome<Body>> {
      const { precedence = "list", connectionWaitMs, onStarted } = given;
      const connection = await pool.take(precedence, connectionWaitMs);
      if (connection === undefined) return withoutConnection(connectionWaitMs);
      onStarted?.(() => connection.destroy());
      return sendOver(connection, path, timeoutMs, given);
    }

    return {
      get: (path, timeoutMs, given = {}) => send(path, timeoutMs, given),
      post: (path, json, timeoutMs) => send(path, timeoutMs, { json }),
      certificate: connector.certificate,
      hasNewCredentials: (timeoutMs) => {
        const isNew = readCredentials().then((read) => read.ok && read.value.id !== refused);
        return within(timeoutMs, isNew, () => false);
      },
      close: pool.close,
    };
  };
}

/** Returns the failure of a poll whose wait for a connection has ended. If the client was closed, nobody uses this failure. */
function withoutConnection(waitedMs = 0): Outcome<never> {
  const waited = `it waited ${Math.round(waitedMs / 1000)} s for a connection`;
  return failed("local", `not sent: ${waited} (the limit of open files bounds how many there are)`);
}

function failed(reason: FailureReason, message: string): Outcome<never> {
  return { ok: false, failure: { reason, message } };
}
