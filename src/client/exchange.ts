import type { Readable } from "node:stream";
import { parseRetryAfterMs } from "./retry-after.ts";
import type { Failure } from "./failure.ts";
import type { Outcome } from "./failure.ts";
import type { Connection, Request } from "./connection.ts";

/** A complete body with status 200, or the failure that any other status is. */
export type Answer = Outcome<Uint8Array>;

/** Each chunk costs a call of the parser, so that small ones by the hundred thousand would block the event loop. */
const LEAST_BYTES_PER_CHUNK = 16;
const FIRST_ROOM_BYTES = 8 * 1024;

/**
 * Sends one GET on the connection and reads its whole answer. Interim answers are passed over, redirects are not followed. A
 * body of more than `bodyLimitBytes`, or in more chunks than a sixteenth of that, is `too_large`. The connection must not be
 * used again after a failure: the rest of the answer is left unread.
 *
 * @throws the error of the runtime or of undici
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

/** Copies each chunk as it arrives: kept one by one, small chunks would need many times their size. */
function readBody(body: Readable, limitBytes: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let room = Buffer.allocUnsafe(Math.min(FIRST_ROOM_BYTES, limitBytes));
    let length = 0;
    let chunks = 0;
    body.on("data", (chunk: Buffer) => {
      const end = length + chunk.length;
      chunks += 1;
      if (end > limitBytes || chunks > limitBytes / LEAST_BYTES_PER_CHUNK) {
        const what =
          end > limitBytes ? `${limitBytes} bytes` : `${limitBytes / LEAST_BYTES_PER_CHUNK} chunks`;
        resolve({ ok: false, failure: { reason: "too_large", message: `the body has more than ${what}` } });
        body.destroy();
        return;
      }
      if (end > room.length) {
        const larger = Buffer.allocUnsafe(Math.min(limitBytes, Math.max(end, 2 * room.length)));
        room.copy(larger, 0, 0, length);
        room = larger;
      }
      chunk.copy(room, length);
      length = end;
    });
    body.once("end", () => resolve({ ok: true, value: room.subarray(0, length) }));
    body.on("error", reject);
  });
}

/** The parser takes both when Content-Length comes first; where the answer ends is anybody's guess then. @see RFC 9112, 6.3 */
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
