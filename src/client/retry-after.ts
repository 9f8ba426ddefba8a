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
