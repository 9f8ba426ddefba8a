/**
 * Items that wait, by owner and by a part of the owner's. Owners have turns one after the other, and so have the parts
 * of an owner. Within a part the latest item comes first: when more comes than can be served, some are served in time
 * instead of all too late.
 */
export interface FairQueue<T> {
  /** Returns what loses its place, if there are too many: the oldest of the longest part of the owner that has most. */
  add(owner: string, part: string, item: T): T | undefined;
  take(): T | undefined;
  /** Whether it was waiting. */
  remove(owner: string, part: string, item: T): boolean;
}

/** `limit`: of items that wait. */
export function createFairQueue<T>(limit: number): FairQueue<T> {
  /** In the order of their turns, and their parts too; none is empty. */
  const owners = new Map<string, Map<string, T[]>>();

  function takeOut(owner: string, part: string, index: number): T | undefined {
    const parts = owners.get(owner);
    const items = parts?.get(part) ?? [];
    const [item] = items.splice(index, 1);
    if (items.length === 0) parts?.delete(part);
    if (parts?.size === 0) owners.delete(owner);
    return item;
  }

  return {
    add: (owner, part, item) => {
      const parts = owners.get(owner) ?? new Map<string, T[]>();
      owners.set(owner, parts.set(part, [...(parts.get(part) ?? []), item]));
      if (sum([...owners.values()].map(sizeOf)) <= limit) return undefined;
      const [largest, its] = greatest(owners, sizeOf) ?? [owner, parts];
      const [longest] = greatest(its, ({ length }) => length) ?? [part];
      return takeOut(largest, longest, 0);
    },
    take: () => {
      const [[owner, parts] = []] = owners;
      const [[part, items] = []] = parts ?? [];
      if (owner === undefined || parts === undefined || part === undefined || items === undefined)
        return undefined;
      // Behind all others.
      owners.delete(owner);
      owners.set(owner, parts);
      parts.delete(part);
      parts.set(part, items);
      return takeOut(owner, part, items.length - 1);
    },
    remove: (owner, part, item) => {
      const index = owners.get(owner)?.get(part)?.indexOf(item) ?? -1;
      return index >= 0 && takeOut(owner, part, index) !== undefined;
    },
  };
}

function sizeOf(parts: ReadonlyMap<string, readonly unknown[]>): number {
  return sum([...parts.values()].map(({ length }) => length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Of equals the last one. */
function greatest<K, V>(
  entries: ReadonlyMap<K, V>,
  sizeIn: (value: V) => number,
): readonly [K, V] | undefined {
  return [...entries].toSorted(([, one], [, other]) => sizeIn(one) - sizeIn(other)).at(-1);
}
