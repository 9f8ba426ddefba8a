/**
 * Waiting items, grouped by owner and by part of an owner. Owners take turns, and so do the parts of an owner. Within a
 * part the latest item comes first: under overload, some items are served in time instead of all too late.
 */
export interface FairQueue<T> {
  /** If the queue is full, removes and returns the oldest item of the longest part of the owner with the most items. */
  add(owner: string, part: string, item: T): T | undefined;
  take(): T | undefined;
}

/** `limit`: waiting items. */
export function createFairQueue<T>(limit: number): FairQueue<T> {
  /** Owners and parts in the order of their turns; none is empty. */
  const owners = new Map<string, Map<string, T[]>>();
  let size = 0;

  function takeOut(owner: string, part: string, index: number): T | undefined {
    const parts = owners.get(owner);
    const items = parts?.get(part) ?? [];
    const [item] = items.splice(index, 1);
    size -= 1;
    if (items.length === 0) parts?.delete(part);
    if (parts?.size === 0) owners.delete(owner);
    return item;
  }

  return {
    add: (owner, part, item) => {
      const parts = owners.get(owner) ?? new Map<string, T[]>();
      const items = parts.get(part) ?? [];
      items.push(item);
      owners.set(owner, parts.set(part, items));
      size += 1;
      if (size <= limit) return undefined;
      const [largest, its] = greatest(owners, sizeOf) ?? [owner, parts];
      const [longest] = greatest(its, ({ length }) => length) ?? [part];
      return takeOut(largest, longest, 0);
    },
    take: () => {
      const [[owner, parts] = []] = owners;
      const [[part, items] = []] = parts ?? [];
      if (owner === undefined || parts === undefined || part === undefined || items === undefined)
        return undefined;
      // To the end of the line.
      owners.delete(owner);
      owners.set(owner, parts);
      parts.delete(part);
      parts.set(part, items);
      return takeOut(owner, part, items.length - 1);
    },
  };
}

function sizeOf(parts: ReadonlyMap<string, readonly unknown[]>): number {
  return [...parts.values()].reduce((total, { length }) => total + length, 0);
}

/** The last of equal ones. */
function greatest<K, V>(
  entries: ReadonlyMap<K, V>,
  sizeIn: (value: V) => number,
): readonly [K, V] | undefined {
  return [...entries].toSorted(([, one], [, other]) => sizeIn(one) - sizeIn(other)).at(-1);
}
