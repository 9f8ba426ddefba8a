import type { Failure } from "./failure.ts";

type Fields = Readonly<Record<string, string | string[] | undefined>>;

const SMUGGLED: Failure = {
  reason: "protocol",
  message: "both Content-Length and Transfer-Encoding are given",
};

/** Why an answer with this status and these fields is a failure; `undefined` if it is none. `wallMs`: Unix time. */
export function headFailure(status: number, fields: Fields, wallMs: number): Failure | undefined {
  // The parser accepts both if Content-Length comes first; the end of the answer is ambiguous then. RFC 9112, 6.3
  const isSmuggled = fields["content-length"] !== undefined && fields["transfer-encoding"] !== undefined;
  if (status === 200) return isSmuggled ? SMUGGLED : undefined;
  const message = `answered with status ${status}`;
  if (status === 401 || status === 403) return { reason: "auth", message, status };
  const retryAfter = fields["retry-after"];
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
