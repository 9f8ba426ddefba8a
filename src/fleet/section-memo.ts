/** Makes a section once for each thing that it is about and all that it is made of; `before`: the one made last. */
export type SectionMemo<S> = (
  about: object,
  madeOf: readonly unknown[],
  make: (before: S | undefined) => S,
) => S;

/**
 * Remembers the section made last for each object, for as long as the object lives: while it is made of the same, it
 * is the same section.
 */
export function createSectionMemo<S>(): SectionMemo<S> {
  const made = new WeakMap<object, { readonly madeOf: readonly unknown[]; readonly section: S }>();
  return (about, madeOf, make) => {
    const known = made.get(about);
    const isSame =
      known?.madeOf.length === madeOf.length && madeOf.every((part, i) => part === known.madeOf[i]);
    if (known !== undefined && isSame) return known.section;
    const section = make(known?.section);
    made.set(about, { madeOf, section });
    return section;
  };
}
