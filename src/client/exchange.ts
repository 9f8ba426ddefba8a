import type { Readable } from "node:stream";
import { parseRetryAfterMs } from "./retry-after.ts";
import type { Failure } from "./failure.ts";
import type { Outcome } from "./failure.ts";
import type { Connection, Request } from "./connection.ts";

/** The complete body of an answer with status 200, or the failure for any other status. */
export type Answer = Outcome<Uint8Array>;

/** Each chunk costs a call of the parser; a hundred thousand small ones would block the event loop. */
const MIN_BYTES_PER_CHUNK = 16;
const INITIAL_BUFFER_BYTES = 8 * 1024;

/**
 * Sends one GET and reads the whole answer. Skips interim answers and does not follow redirects. A body of more than
 * `bodyLimitBytes`, or of more chunks than a sixteenth of that, is `too_large`. The connection must not be reused after a
 * failure: the rest of the answer is unread.
 *
 * @throws an error of Node.js or undici
 */
export async function exchange(
  connection: Connection,
  request: Request,
  { bodyLimitBytes, wallMs }: { readonly bodyLimitBytes: number; readonly wallMs: number },
): Promise<Answer> {
  const response = await connection.request(request);
  const { statusCode, headers: fields, body } = response;
  if (statusCode === 200 && !isSmuggled(fields)) return readBody(body, bodyLimitBytes);
  body.on("error", () => {});
  if (statusCode === 200) return { ok: false, failure: SMUGGLED };
  return { ok: false, failure: statusFailure(statusCode, fields["retry-after"], wallMs) };
}

/** Copies each chunk on arrival: a list of small chunks would need many times their size. */
function readBody(body: Readable, limitBytes: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let buffer = Buffer.allocUnsafe(Math.min(INITIAL_BUFFER_BYTES, limitBytes));
    let length = 0;
    let chunks = 0;
    body.on("data", (chunk: Buffer) => {
      const end = length + chunk.length;
      chunks += 1;
      if (end > limitBytes || chunks > limitBytes / MIN_BYTES_PER_CHUNK) {
        const what = end > limitBytes ? `${limitBytes} bytes` : `${limitBytes / MIN_BYTES_PER_CHUNK} chunks`;
        resolve({ ok: false, failure: { reason: "too_large", message: `the body has more than ${what}` } });
        body.destroy();
        return;
      }
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(limitBytes, Math.max(end, 2 * buffer.length)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      chunk.copy(buffer, length);
      length = end;
    });
    body.once("end", () => resolve({ ok: true, value: buffer.subarray(0, length) }));
    body.on("error", reject);
  });
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
