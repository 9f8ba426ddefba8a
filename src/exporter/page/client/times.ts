const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", options);
const clock = { hour: "2-digit", minute: "2-digit" } as const;
const [minutes, seconds] = [format(clock), format({ ...clock, second: "2-digit" })];
const days = new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric" });

/** The name of the reader's zone: `Europe/Amsterdam`. */
export const zone = minutes.resolvedOptions().timeZone;

/** Returns `05:35:02` in the reader's zone. */
export function secondOf(atMs: number): string {
  return seconds.format(atMs);
}

/** Returns `05:35` in the reader's zone, with the date if it is another day than that of `nowMs`. */
export function minuteOf(atMs: number, nowMs: number): string {
  const [own, today] = [days.format(atMs), days.format(nowMs)];
  return own === today ? minutes.format(atMs) : `${own} ${minutes.format(atMs)}`;
}

/** Rewrites the times of day in markup, which are in UTC. */
export function localize(markup: HTMLElement, nowMs: number): void {
  for (const time of markup.querySelectorAll<HTMLTimeElement>("time[data-clock]")) {
    const atMs = Date.parse(time.dateTime);
    time.textContent = time.dataset["clock"] === "hour" ? minutes.format(atMs) : minuteOf(atMs, nowMs);
  }
}
