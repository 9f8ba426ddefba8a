const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Largest first, as they must stand. */
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
 * A duration as Prometheus writes it, in milliseconds: `500ms`, `15s`, `1m30s`, `1h`, `0`; a year has 365 days.
 * Each unit once at most, the larger ones first; `undefined` for anything else and beyond safe integers.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const match = DURATION.exec(text);
  if (!match || text === "") return undefined;
  const ms = UNITS.reduce((sum, [, unitMs], index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The shortest text that `parseDuration` reads as `ms`, a non-negative safe integer: `90000` is `1m30s`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  const parts = UNITS.map(([unit, unitMs]) => {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    return count === 0 ? "" : `${count}${unit}`;
  });
  return parts.join("") || "0";
}
