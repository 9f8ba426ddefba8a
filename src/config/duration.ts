const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** In the order of the groups of `DURATION`. */
const UNITS_MS = [365 * DAY_MS, 7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, 1];
const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Parses a duration as Prometheus does, in milliseconds: `500ms`, `15s`, `1m30s`, `1h`, `0`; a year has 365 days.
 * `undefined` for any other text and for values beyond safe integers.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = DURATION.exec(text);
  if (!match || text === "") return undefined;
  const ms = UNITS_MS.reduce((sum, unitMs, index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}
