/** The days that node-cron makes of an expression: numbers, and the special values `L`, `L-3`, `15W`, `LW`, `5L`, `1#2`. */
interface Days {
  readonly dayOfMonth: readonly (number | string)[];
  readonly month: readonly (number | string)[];
  readonly dayOfWeek: readonly (number | string)[];
}

/** A day of some year: `weekday` from 0, Sunday. */
interface Day {
  readonly day: number;
  readonly weekday: number;
  /** Days of its month. */
  readonly length: number;
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6];
const SATURDAY = 6;
const SUNDAY = 0;

/** Whether there is any day that is one of the days of a month and one of the week days, in one of the months. */
export function canComeRound({ dayOfMonth, month, dayOfWeek }: Days): boolean {
  const lengths = new Set(month.flatMap((number) => monthLengths(Number(number))));
  return [...lengths].some((length) =>
    WEEKDAYS.some((firstWeekday) =>
      daysOf(length, firstWeekday).some(
        (day) =>
          dayOfMonth.some((value) => isDayOfMonth(value, day)) &&
          dayOfWeek.some((value) => isDayOfWeek(value, day)),
      ),
    ),
  );
}

function monthLengths(month: number): readonly number[] {
  if (month === 2) return [28, 29];
  return [[4, 6, 9, 11].includes(month) ? 30 : 31];
}

function daysOf(length: number, firstWeekday: number): readonly Day[] {
  return Array.from({ length }, (_, index) => ({
    day: index + 1,
    weekday: (firstWeekday + index) % WEEKDAYS.length,
    length,
  }));
}

function isDayOfMonth(value: number | string, day: Day): boolean {
  if (typeof value === "number") return value === day.day;
  if (value === "L") return day.day === day.length;
  const before = /^L-(\d+)$/.exec(value)?.[1];
  if (before !== undefined) return day.day === day.length - Number(before);
  const nearest = /^(\d+|L)W$/.exec(value)?.[1];
  return nearest !== undefined && isNearestTo(nearest === "L" ? day.length : Number(nearest), day);
}

/** Whether the day is the working day that is nearest to another one in the same month. */
function isNearestTo(target: number, { day, weekday, length }: Day): boolean {
  if (weekday === SATURDAY || weekday === SUNDAY || target > length) return false;
  const MONDAY = 1;
  const FRIDAY = 5;
  if (day === target) return true;
  if (weekday === FRIDAY) return target === day + 1 || (target === day + 2 && target === length);
  return weekday === MONDAY && (target === day - 1 || (target === day - 2 && target === 1));
}

function isDayOfWeek(value: number | string, { day, weekday, length }: Day): boolean {
  if (typeof value === "number") return value === weekday;
  const [, number, kind, nth] = /^(\d)(?:(L)|#(\d))$/.exec(value) ?? [];
  if (Number(number) % WEEKDAYS.length !== weekday) return false;
  return kind === "L" ? day + WEEKDAYS.length > length : Number(nth) === Math.ceil(day / WEEKDAYS.length);
}
