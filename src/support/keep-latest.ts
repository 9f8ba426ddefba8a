/** Adds an entry behind the others, of which at most so many stay: the latest ones. */
export function keepLatest<Key, Value>(all: Map<Key, Value>, key: Key, value: Value, most: number): void {
  all.delete(key);
  all.set(key, value);
  if (all.size <= most) return;
  const [first = key] = all.keys();
  all.delete(first);
}
