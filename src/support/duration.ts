const DAY_MS = 86_400_000;
/** The units have the order of the groups of `DURATION`. */
const UNITS_MS = [365 * DAY_MS, 7 * DAY_MS, DAY_MS, 3_600_000, 60_000, 1_000, 1];
const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Parses a duration as Prometheus does, in milliseconds: `500ms`, `15s`, `1m30s`, `1h`, `0`; a year has 365 days. Returns `undefined` for
 * any other text and for values beyond safe integers.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = DURATION.exec(text);
  if (!match || text === "") return undefined;
  const ms = UNITS_MS.reduce((sum, unitMs, index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}
