/**
 * What a Retry-After header asks for, in milliseconds from `nowMs` (Unix time), never negative; `undefined` where it
 * is neither a number of seconds nor a date.
 *
 * @see RFC 9110, 10.2.3
 */
export function parseRetryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse takes much that is no HTTP date, a bare "-5" among it; every HTTP date begins with its weekday.
  const isDate = /^[A-Z][a-z]{2}/.test(text);
  // The form without a zone is in UTC as well.
  const atMs = isDate ? Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
