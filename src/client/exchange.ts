import { parseRetryAfterMs } from "./retry-after.ts";
import type { Failure } from "./failure.ts";
import type { Outcome } from "./failure.ts";
import type { Connection, Request } from "./connection.ts";

/** The complete body of an answer with status 200, or the failure for any other status. */
export type Answer = Outcome<Uint8Array>;

/** Each chunk costs a call of the parser; a hundred thousand small ones would block the event loop. */
const MIN_BYTES_PER_CHUNK = 16;

/**
 * Sends one GET and reads the whole answer. Does not follow redirects. A body of more than `bodyLimitBytes`, or of more
 * chunks than a sixteenth of that, is `too_large`. The connection must not be reused after a failure: the rest of the
 * answer is unread. Rejects with an error of Node.js or undici.
 */
export function exchange(
  connection: Connection,
  request: Request,
  { bodyLimitBytes, wallMs }: { readonly bodyLimitBytes: number; readonly wallMs: number },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = collectBody(bodyLimitBytes);
    const failed = (failure: Failure): void => resolve({ ok: false, failure });
    connection.send(request, {
      onStart: (status, fields) => {
        if (status !== 200) failed(statusFailure(status, fields["retry-after"], wallMs));
        else if (isSmuggled(fields)) failed(SMUGGLED);
      },
      onData: (chunk) => {
        const excess = body.add(chunk);
        if (excess !== undefined)
          failed({ reason: "too_large", message: `the body has more than ${excess}` });
      },
      onEnd: () => resolve({ ok: true, value: body.bytes() }),
      onError: reject,
    });
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
