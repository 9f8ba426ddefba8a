import * as fc from "fast-check";

/** Arbitrary texts and buffers with so many repetitions of characters, some of which have several bytes. */
export function longTexts(...counts: readonly number[]): fc.Arbitrary<string | Buffer> {
  const letters = fc.constantFrom("a", "é", "日", "😀", "ab\n");
  return fc.tuple(letters, fc.constantFrom(...counts), fc.boolean()).map(([letter, count, isBuffer]) => {
    const text = letter.repeat(count);
    return isBuffer ? Buffer.from(text) : text;
  });
}
