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

export function isSame(ones: readonly unknown[], others: readonly unknown[]): boolean {
  return ones.length === others.length && ones.every((one, nth) => one === others[nth]);
}

/** What was made last for an object, for as long as the object lives: made again only if it is made of something else. */
export type Memo<Made> = (
  of: object,
  madeOf: readonly unknown[],
  make: (before: Made | undefined) => Made,
) => Made;

export function createMemo<Made>(): Memo<Made> {
  const all = new WeakMap<object, { readonly madeOf: readonly unknown[]; readonly made: Made }>();
  return (of, madeOf, make) => {
    const known = all.get(of);
    if (known !== undefined && isSame(known.madeOf, madeOf)) return known.made;
    const made = make(known?.made);
    all.set(of, { madeOf, made });
    return made;
  };
}

/** `make`, called once for each object: its result is kept while the object lives. */
export function once<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const memo = createMemo<Made>();
  return (of) => memo(of, [], () => make(of));
}
