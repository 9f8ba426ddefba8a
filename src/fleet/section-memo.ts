import type { Section } from "./snapshot.ts";

/** Makes a section once for each thing that it is about and all that it is made of. */
export type SectionMemo = <S extends Section>(about: object, madeOf: readonly unknown[], make: () => S) => S;

/**
 * Remembers the section made last for each object, for as long as the object lives: while it is made of the same, it
 * is the same section.
 */
export function createSectionMemo(): SectionMemo {
  const made = new WeakMap<object, { readonly madeOf: readonly unknown[]; readonly section: Section }>();
  return <S extends Section>(about: object, madeOf: readonly unknown[], make: () => S): S => {
    const known = made.get(about);
    const isSame = known?.madeOf.length === madeOf.length && madeOf.every((part, i) => part === known.madeOf[i]);
    // Each object is the subject of one kind of section.
    if (known !== undefined && isSame) return known.section as S;
    const section = make();
    made.set(about, { madeOf, section });
    return section;
  };
}
