import { isDeepStrictEqual } from "node:util";

/** The object of before, if nothing in it has changed. */
export function kept<Of extends object>(before: Of | undefined, now: Of): Of {
  if (before === undefined) return now;
  for (const name in now) if (now[name] !== before[name]) return now;
  return before;
}

/** The object of before, if both are equal in depth. */
export function keptEqual<Of>(before: Of | undefined, now: Of): Of {
  return before !== undefined && isDeepStrictEqual(before, now) ? before : now;
}

/** Whether both lists have the same items. */
export function isSame(ones: readonly unknown[], others: readonly unknown[]): boolean {
  return ones.length === others.length && ones.every((one, nth) => one === others[nth]);
}
