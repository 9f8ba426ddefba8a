/** The object of before, if nothing in it has changed. */
export function kept<Of extends object>(before: Of | undefined, now: Of): Of {
  if (before === undefined) return now;
  for (const name in now) if (now[name] !== before[name]) return now;
  return before;
}

/** The map of before, if it has the same entries in the same order. */
export function keptMap<Key, Value>(
  before: ReadonlyMap<Key, Value> | undefined,
  now: ReadonlyMap<Key, Value>,
): ReadonlyMap<Key, Value> {
  if (before === undefined) return now;
  const areSame =
    isSame([...before.keys()], [...now.keys()]) && isSame([...before.values()], [...now.values()]);
  return areSame ? before : now;
}

/** Whether both lists have the same items, or items made of the same. */
export function isSame<T>(
  ones: readonly T[],
  others: readonly T[],
  madeOf?: (item: T) => readonly unknown[],
): boolean {
  if (ones === others) return true;
  return (
    ones.length === others.length &&
    ones.every((one, nth) => {
      const other = others[nth];
      if (one === other || madeOf === undefined || other === undefined) return one === other;
      return isSame(madeOf(one), madeOf(other));
    })
  );
}
