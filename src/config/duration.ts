const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** In the order that a duration requires. */
const UNITS = [
  ["y", 365 * DAY_MS],
  ["w", 7 * DAY_MS],
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
  ["s", SECOND_MS],
  ["ms", 1],
] as const;

const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Parses a duration as Prometheus does, in milliseconds: `500ms`, `15s`, `1m30s`, `1h`, `0`; a year has 365 days.
 * `undefined` for any other text and for values beyond safe integers.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = DURATION.exec(text);
  if (!match || text === "") return undefined;
  const ms = UNITS.reduce((sum, [, unitMs], index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The inverse of `parseDuration`, in the largest units: `90000` is `1m30s`. `ms`: a non-negative safe integer. */
export function formatDuration(ms: number): string {
  let rest = ms;
  const parts = UNITS.map(([unit, unitMs]) => {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    return count === 0 ? "" : `${count}${unit}`;
  });
  return parts.join("") || "0";
}
