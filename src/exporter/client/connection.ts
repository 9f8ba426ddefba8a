import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
// The entry of the package also loads fetch, caches and mocks, which takes a fifth of the time of a start.
import Client from "undici/lib/dispatcher/client.js";
import type { Clock } from "../../support/clock.ts";
import { printable } from "../../support/text.ts";
import type { Connector } from "./connect.ts";
import { skipContinues } from "./continue.ts";
import type { Failure, Outcome } from "../api/failure.ts";
import { closedFailure, ConnectionError, failureFrom, type Stage } from "./failure.ts";

/** An idle connection is kept until it is outdated, unless the appliance says a shorter time. */
const IDLE_TIMEOUT_MS = 60 * 60_000;
const HEADERS_LIMIT_BYTES = 16 * 1024;
/** Each chunk costs a call of the parser; a hundred thousand small ones would block the event loop. */
const MIN_BYTES_PER_CHUNK = 16;

export interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The largest body. A longer one, or one of more chunks than a sixteenth of the limit, is `too_large`. */
  readonly bodyLimitBytes: number;
  /** The body of a POST; without it, the request is a GET. */
  readonly json?: string | undefined;
  /** @see GetOptions */
  readonly onAnswer?: ((answer: HttpResponse) => void) | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  /** The body. If an error breaks off or is too long, these bytes are the beginning of its body. */
  readonly bytes: Uint8Array;
}

/**
 * One connection to an appliance, used by one poll at a time and kept between polls. It can be destroyed at any time,
 * even during a handshake, without affecting another poll.
 */
export interface Connection {
  /**
   * Sends a request and reads the body of its answer. Any status but 200 is a failure, including redirects. The text of an answer that
   * refuses a POST is the message of the failure. The first call connects. A later call connects again, once, if no answer begins or its
   * status is 408: the appliance has closed the idle connection. After a failure the rest of the answer is unread, so the connection must
   * not be used again.
   */
  send(request: Request): Promise<Outcome<Uint8Array>>;
  stage(): Stage;
  /** @see Connected */
  peerAddress(): string | undefined;
  /** Returns the error whose body is being read, or was read last. */
  refusal(): Failure | undefined;
  /** Whether the connection has a peer that need not be verified again. */
  isUsable(): boolean;
  /** Immediately ends the request in flight and the connection, or the attempt to connect. */
  destroy(): void;
}

export interface ConnectionOptions {
  /** The origin `https://host:port`. */
  readonly origin: string;
  readonly connector: Connector;
  readonly clock: Clock;
  /** The callback after the attempt to connect has succeeded or failed. */
  readonly onAttemptEnded: () => void;
  /** The callback after the connection was destroyed; possible more than once. */
  readonly onDestroyed: () => void;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { origin, connector, clock, onAttemptEnded, onDestroyed } = options;
  let verifiedUntilMs = 0;
  let peerAddress: string | undefined;
  let stage: Stage = "lookup";
  let mayConnect = true;
  /** The latest socket of the connection or of the attempt to connect. A TLS socket destroys the one below it. */
  let socket: Socket | undefined;
  let expectAnswer: (() => void) | undefined;
  /** The socket ends when it has read more bytes than this number. */
  let maxBytesRead = 0;
  let isAnswered = false;
  let refusal: Failure | undefined;

  const client = new Client(origin, {
    connect: (_options, callback) => {
      if (!mayConnect) {
        // undici retries forever after an error of its own.
        callback(new ConnectionError("protocol", UNSENT), null);
        return;
      }
      mayConnect = false;
      const watcher = {
        stage: (reached: Stage) => (stage = reached),
        socket: (made: Socket) => {
          socket = made;
          // Errors without another listener are irrelevant: the connection has ended, or changes its owner.
          made.on("error", () => {});
        },
      };
      connector
        .connect(watcher)
        .then(
          (connected) => {
            ({ verifiedUntilMs, peerAddress } = connected);
            expectAnswer = skipContinues(connected.socket);
            endBeyond(connected.socket, () => maxBytesRead);
            return callback(null, connected.socket);
          },
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

  /** Sends the request without a stream for the body, which would cost more than the rest of the request. */
  function exchange({
    path,
    headers,
    bodyLimitBytes,
    json,
    onAnswer,
  }: Request): Promise<Outcome<Uint8Array>> {
    isAnswered = false;
    refusal = undefined;
    return new Promise((resolve) => {
      const maxChunks = bodyLimitBytes / MIN_BYTES_PER_CHUNK;
      const chunks: Buffer[] = [];
      let length = 0;
      let head: Omit<HttpResponse, "bytes"> | undefined;
      const fail = (failure: Failure): void => resolve({ ok: false, failure });
      const received = (): Buffer => {
        const bytes = Buffer.concat(chunks);
        if (head !== undefined) onAnswer?.({ ...head, bytes });
        return bytes;
      };
      /** If an error is read only for its body, the failure stays that error. */
      const breakOff = (failure: Failure): void => {
        if (json !== undefined || refusal === undefined) return fail(failure);
        received();
        return fail(refusal);
      };
      const tooMuch = (what: string): void =>
        breakOff({ reason: "too_large", message: `the body has more than ${what}` });
      client.dispatch(
        json === undefined
          ? { method: "GET", path, headers }
          : { method: "POST", path, headers: { ...headers, "content-type": "application/json" }, body: json },
        {
          onRequestStart: () => {
            expectAnswer?.();
            maxBytesRead = (socket?.bytesRead ?? 0) + 2 * (bodyLimitBytes + HEADERS_LIMIT_BYTES);
          },
          onResponseStart: (_controller, status, fields) => {
            isAnswered = status !== IDLE_CLOSED;
            const isInterim = status < 200;
            const failure = isInterim ? undefined : headFailure(status, fields, clock.wallMs());
            if (!isInterim) head = { status, contentType: String(fields["content-type"] ?? "") };
            if (json !== undefined || onAnswer !== undefined) refusal = failure;
            else if (failure !== undefined) fail(failure);
          },
          onResponseData: (_controller, chunk) => {
            length += chunk.length;
            // The chunk is valid during the call only.
            if (length > bodyLimitBytes) tooMuch(`${bodyLimitBytes} bytes`);
            else if (chunks.push(Buffer.from(chunk)) > maxChunks) tooMuch(`${maxChunks} chunks`);
          },
          onResponseEnd: () => {
            const value = received();
            if (refusal === undefined) resolve({ ok: true, value });
            else if (json === undefined) fail(refusal);
            else fail({ ...refusal, message: value.toString().trim() || refusal.message });
          },
          onResponseError: (_controller, error) => {
            const closed = head === undefined && stage === "connected" ? closedFailure(error) : undefined;
            breakOff(closed ?? failureFrom(error, stage));
          },
        },
      );
    });
  }

  return {
    send: async (request) => {
      const isReused = stage === "connected";
      const answer = await exchange(request);
      if (answer.ok || !isReused || isAnswered || client.destroyed) return answer;
      socket?.destroy();
      mayConnect = true;
      return exchange(request);
    },
    stage: () => stage,
    peerAddress: () => peerAddress,
    refusal: () => refusal,
    isUsable: () =>
      stage === "connected" && socket?.destroyed === false && clock.monotonicMs() < verifiedUntilMs,
    destroy: () => {
      client.destroy().catch(() => {});
      // client.destroy does not close a socket that is still connecting.
      socket?.destroy();
      onDestroyed();
    },
  };
}

/**
 * Ends the connection when more bytes were read. undici does not limit what costs it most: interim answers, line breaks before an answer,
 * extensions of chunks. These would keep the event loop busy until the deadline, which does not count such time.
 */
function endBeyond(socket: Socket, maxBytesRead: () => number): void {
  socket.on("readable", () => {
    if (socket.bytesRead <= maxBytesRead()) return;
    socket.destroy(new ConnectionError("too_large", "the answer has far more bytes than its body may have"));
  });
}

/** Servers send this status at any time when they close an idle connection. @see RFC 9110, 15.5.9 */
const IDLE_CLOSED = 408;
const UNSENT = "the connection broke before the request was sent";
const SMUGGLED = "both Content-Length and Transfer-Encoding are given";

function headFailure(status: number, fields: IncomingHttpHeaders, wallMs: number): Failure | undefined {
  // The parser accepts both headers if Content-Length comes first; the end of the answer is ambiguous then. RFC 9112, 6.3
  const isSmuggled = fields["content-length"] !== undefined && fields["transfer-encoding"] !== undefined;
  if (status === 200 && isSmuggled) return { reason: "protocol", message: SMUGGLED };
  if (status === 200) return encodingFailure(fields["content-encoding"]);
  const message = `answered with status ${status}`;
  if (status === 401 || status === 403)
    return { ...authFailure(fields["www-authenticate"], message), status };
  if (status >= 300 && status < 400) return { ...redirectFailure(fields.location, message), status };
  const retryAfter = fields["retry-after"];
  const mayDefer = (status === 429 || status === 503) && typeof retryAfter === "string";
  const retryAfterMs = mayDefer ? parseRetryAfterMs(retryAfter, wallMs) : undefined;
  return { reason: "http_status", message, status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Answers are not decoded: a small one may hide a large one. The exporter asks for none, but some servers compress all. */
function encodingFailure(encoding: string | readonly string[] | undefined): Failure | undefined {
  const name = shown(encoding ?? "identity");
  if (/^(identity)?$/i.test(name)) return undefined;
  const message = `the answer is encoded (Content-Encoding: ${name}), although the exporter asked for identity`;
  return { reason: "decode", code: "encoded", message };
}

function authFailure(challenges: string | readonly string[] | undefined, message: string): Failure {
  const schemes = [challenges ?? []].flat().join(", ");
  const isOther = schemes !== "" && !/(^|[\s,])basic\b/i.test(schemes);
  if (!isOther) return { reason: "auth", message };
  const [scheme = ""] = schemes.split(/[\s,]/);
  return {
    reason: "auth",
    code: "only_basic",
    message: `${message} and asks for ${shown(scheme)}, not Basic`,
  };
}

/** The target without a user and a query, which may have a token, or differ in each answer. */
function redirectFailure(location: string | readonly string[] | undefined, message: string): Failure {
  const [base = ""] = [location ?? []].flat().join(", ").split(/[?#]/);
  const target = base === "" ? "" : `, a redirect to ${shown(base.replace(/\/\/[^/]*@/, "//"))}`;
  return { reason: "http_status", code: "redirect", message: `${message}${target}` };
}

const MAX_SHOWN = 200;

/** Returns the value of a header for a message: shortened, in one line. */
function shown(value: string | readonly string[]): string {
  return printable([value].flat().join(", ").slice(0, MAX_SHOWN)).trim();
}

/**
 * Returns the delay of a Retry-After header, in milliseconds from `nowMs` (Unix time), never negative; `undefined` if the header is neither
 * a number of seconds nor a date.
 *
 * @see RFC 9110, 10.2.3
 */
export function parseRetryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse also accepts texts like "-5"; every HTTP date begins with a weekday.
  const isDate = /^[A-Z][a-z]{2}/.test(text);
  // The asctime form has no zone but is in UTC too.
  const atMs = isDate ? Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
