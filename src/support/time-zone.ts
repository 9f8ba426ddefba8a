/** The form of names of time zones. */
export const TIME_ZONE_FORM =
  "a time zone of the IANA database, such as Europe/Amsterdam; 'timedatectl list-timezones' lists them";

/** An offset, which newer versions of Node.js accept, is no name. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[a-z]/i.test(name) && createTimeFormat(name) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Returns a function that writes Unix times in milliseconds as people in a time zone read them, `2026-10-25 02:30:00 +01:00`. The hour that
 * occurs twice when clocks are set back has two offsets. Without a name, the zone of the process counts. Throws if there is no such time zone.
 */
export function createTimeFormat(timeZone?: string): (ms: number) => string {
  const formatter = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  return (ms) => {
    const { year, month, day, hour, minute, second, timeZoneName = "" } = partsOf(formatter, ms);
    const offset = timeZoneName.replace("GMT", "") || "+00:00";
    return `${year}-${month}-${day} ${hour}:${minute}:${second} ${offset}`;
  };
}

type Parts = Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>>;

function partsOf(formatter: Intl.DateTimeFormat, ms: number): Parts {
  return Object.fromEntries(formatter.formatToParts(ms).map(({ type, value }) => [type, value]));
}

/** Returns a Unix time in milliseconds for a sentence, to the minute: `2026-11-30 13:00 UTC`. */
export function minuteInUtc(ms: number): string {
  const [date, time = ""] = new Date(ms).toISOString().split("T");
  return `${date} ${time.slice(0, "13:00".length)} UTC`;
}

/** Returns a Unix time in milliseconds for a sentence about what has just happened, to the second: `13:00:05 UTC`. */
export function secondInUtc(ms: number): string {
  const [, time = ""] = new Date(ms).toISOString().split("T");
  return `${time.slice(0, "13:00:05".length)} UTC`;
}
