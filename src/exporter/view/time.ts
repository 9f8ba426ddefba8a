/** The wording of an instant in relation to now: `3 min`, `3 min ago`, `seen 3 min ago`, `for 3 min`, or `in 4 s` for a planned one. */
export type Wording = "long" | "ago" | "changed" | "seen" | "for" | "next";

/** A text, or an instant in relation to now. */
export type Phrase = string | { readonly wording: Wording; readonly at: string };

/** Returns an instant in relation to now; nothing if the instant is not known. */
export function relative(wording: Wording, at: string | undefined): readonly Phrase[] {
  return at === undefined ? [] : [{ wording, at }];
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Returns an instant in relation to now; both are Unix times in milliseconds. An instant on the wrong side of now counts as now, since
 * clocks differ.
 */
export function relativeTime(wording: Wording, atMs: number, nowMs: number): string {
  const passed = duration(Math.max(0, nowMs - atMs));
  if (wording === "next") return `in ${duration(Math.max(0, atMs - nowMs))}`;
  if (wording === "long") return passed;
  if (wording === "for") return `for ${passed}`;
  return wording === "ago" ? `${passed} ago` : `${wording} ${passed} ago`;
}

/** Returns at most two units, rounded down: `43 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function duration(durationMs: number): string {
  if (durationMs < MINUTE) return `${Math.floor(durationMs / SECOND)} s`;
  if (durationMs < HOUR) return `${Math.floor(durationMs / MINUTE)} min`;
  const hours = Math.floor(durationMs / HOUR);
  if (durationMs < DAY) return `${hours} h ${Math.floor((durationMs % HOUR) / MINUTE)} min`;
  return `${Math.floor(durationMs / DAY)} d ${hours % 24} h`;
}

/** Returns a text like `duration`, but rounded up, so that a time that is over lasted no longer. */
export function lasted(durationMs: number): string {
  const unit = durationMs < MINUTE ? SECOND : durationMs < DAY ? MINUTE : HOUR;
  return duration(Math.ceil(durationMs / unit) * unit);
}

/** Returns `2026-11-21 12:03:04 UTC`; `at` is RFC 3339 in UTC. */
export function absoluteTime(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}

/** Returns `2026-11-21 12:03 UTC`; `at` is RFC 3339 in UTC. */
export function minuteOf(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}

/** Returns `12:03` in UTC, and `Nov 20 12:03` if it is another day than that of the Unix time `nowMs`. */
export function clockTime(at: string, nowMs: number): string {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const date = at.startsWith(day) ? "" : `${MONTHS[Number(at.slice(5, 7)) - 1]} ${Number(at.slice(8, 10))} `;
  return `${date}${at.slice(11, 16)}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Returns `43 ms`, `1.2 s` or `12 s`; `–` if the time is not known. */
export function formatSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return "–";
  if (seconds < 1) return `${Math.round(seconds * SECOND)} ms`;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}
