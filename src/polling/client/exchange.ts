import { parseRetryAfterMs } from "../retry-after.ts";
import type { Failure } from "../failure.ts";
import type { Outcome } from "../observation.ts";
import type { Lane, Request } from "./lane.ts";

/** A complete body with status 200, or the failure that any other status is. */
export type Answer = Outcome<Uint8Array>;

/**
 * Sends one GET on the lane and reads its whole answer; interim answers are passed over, redirects are not followed
 * and the body of any status but 200 is left unread, so that the lane must not be used again then.
 *
 * @throws the error of the runtime or of undici
 */
export async function exchange(lane: Lane, request: Request, wallMs: number): Promise<Answer> {
  const response = await lane.request(request);
  const { statusCode, headers: fields, body } = response;
  if (statusCode === 200 && !isSmuggled(fields)) return { ok: true, value: await body.bytes() };
  body.on("error", () => {});
  if (statusCode === 200) return { ok: false, failure: SMUGGLED };
  return { ok: false, failure: statusFailure(statusCode, fields["retry-after"], wallMs) };
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
