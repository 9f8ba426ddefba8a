import type { Client } from "undici";
import type { Failure, Outcome } from "./failure.ts";

export interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A longer body is `too_large`. */
  readonly bodyLimitBytes: number;
}

/** The complete body of an answer with status 200, or the failure for any other status. */
export type Answer = Outcome<Uint8Array>;

/** Each chunk costs a call of the parser; a hundred thousand small ones would block the event loop. */
const MIN_BYTES_PER_CHUNK = 16;

/**
 * Sends one GET and reads the whole answer. Does not follow redirects. A body of more than `bodyLimitBytes`, or of more
 * chunks than a sixteenth of that, is `too_large`. The connection must not be reused after a failure: the rest of the
 * answer is unread. Rejects with an error of Node.js or undici. `wallMs`: Unix time, for a Retry-After.
 */
export function exchange(
  client: Client,
  { path, headers, bodyLimitBytes }: Request,
  wallMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = collectBody(bodyLimitBytes);
    const failed = (failure: Failure): void => resolve({ ok: false, failure });
    // Without a stream for the body, which would cost more than the rest of the request.
    client.dispatch(
      { method: "GET", path, headers },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, status, fields) => {
          const isInterim = status < 200;
          if (isInterim) return;
          if (status !== 200) failed(statusFailure(status, fields["retry-after"], wallMs));
          else if (isSmuggled(fields)) failed(SMUGGLED);
        },
        onResponseData: (_controller, chunk) => {
          const excess = body.add(chunk);
          if (excess !== undefined)
            failed({ reason: "too_large", message: `the body has more than ${excess}` });
        },
        onResponseEnd: () => resolve({ ok: true, value: body.bytes() }),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

interface BodyCollector {
  /** The limit that is exceeded, in words. Copies the chunk: a list of small ones would need many times their size. */
  add(chunk: Uint8Array): string | undefined;
  bytes(): Uint8Array;
}

function collectBody(limitBytes: number): BodyCollector {
  const maxChunks = limitBytes / MIN_BYTES_PER_CHUNK;
  let buffer = Buffer.alloc(0);
  let length = 0;
  let chunks = 0;
  return {
    add: (chunk) => {
      const end = length + chunk.length;
      chunks += 1;
      if (end > limitBytes) return `${limitBytes} bytes`;
      if (chunks > maxChunks) return `${maxChunks} chunks`;
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(limitBytes, Math.max(end, 2 * buffer.length)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(chunk, length);
      length = end;
      return undefined;
    },
    bytes: () => buffer.subarray(0, length),
  };
}

/** The parser accepts both headers if Content-Length comes first; the end of the answer is ambiguous then. @see RFC 9112, 6.3 */
function isSmuggled(fields: Readonly<Record<string, unknown>>): boolean {
  return fields["content-length"] !== undefined && fields["transfer-encoding"] !== undefined;
}

const SMUGGLED: Failure = {
  reason: "protocol",
  message: "both Content-Length and Transfer-Encoding are given",
};

function statusFailure(status: number, retryAfter: string | string[] | undefined, wallMs: number): Failure {
  const message = `answered with status ${status}`;
  if (status === 401 || status === 403) return { reason: "auth", message, status };
  const mayDefer = (status === 429 || status === 503) && typeof retryAfter === "string";
  const retryAfterMs = mayDefer ? parseRetryAfterMs(retryAfter, wallMs) : undefined;
  return { reason: "http_status", message, status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/**
 * The delay of a Retry-After header, in milliseconds from `nowMs` (Unix time), never negative; `undefined` if it is
 * neither a number of seconds nor a date.
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
