import { isSame } from "./kept.ts";

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

const NOTHING_ELSE: readonly unknown[] = [];

/** `make`, called once for each object: its result is kept while the object lives. */
export function once<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const memo = createMemo<Made>();
  return (of) => memo(of, NOTHING_ELSE, () => make(of));
}
