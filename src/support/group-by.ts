/** Returns the items by key, keys and items in the order of first mention, like `Map.groupBy`, which Node.js 20 lacks. */
export function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const others = groups.get(key);
    if (others === undefined) groups.set(key, [item]);
    else others.push(item);
  }
  return groups;
}
