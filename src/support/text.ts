/** The words in front of and behind the names of all subjects to which they apply. */
export type Words = readonly [before: string, after: string];

/** The words around one name, and those around several names. */
export interface CountedWords {
  readonly one: Words;
  readonly several: Words;
}

export function wording(one: Words, several: Words = one): CountedWords {
  return { one, several };
}

/** Returns the words around so many names. */
export function wordsFor({ one, several }: CountedWords, number: number): Words {
  return number > 1 ? several : one;
}

/**
 * Returns names as people read them: `a`, `a and b`, `a, b and c`. Of more than `most`, it lists these and the number of the others.
 * `total` is the number of all, if `names` are only the first of them.
 */
export function listed(
  names: readonly string[],
  most = Number.POSITIVE_INFINITY,
  total: number = names.length,
): string {
  const shown = names.slice(0, most);
  const all = total > shown.length ? [...shown, `${total - shown.length} more`] : shown;
  const last = all.at(-1) ?? "none";
  return all.length < 2 ? last : `${all.slice(0, -1).join(", ")} and ${last}`;
}

/** Returns names for a message about a fleet: the first five, and the number of the others. */
export function listedBriefly(names: readonly string[]): string {
  return listed(names, 5);
}

/** Returns the first of the words that differs from a word by a typo in one letter, or in none. */
export function meantIn(word: string, words: readonly string[]): string | undefined {
  const variants = new Set(lessOneLetter(word));
  return words.find((each) => lessOneLetter(each).some((variant) => variants.has(variant)));
}

/** Returns the word, and the word without each one of its letters. Two words that share one of these differ by a typo. */
function lessOneLetter(word: string): readonly string[] {
  return [word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))];
}

/** Returns `1 problem` or `2 problems`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** This matches characters that show nothing by themselves: controls, text direction, joiners, tags; not line breaks and tabs. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Escapes invisible characters as JSON does, `\u200b`, so that a text cannot control a terminal, and different texts look different. */
export function printable(text: string): string {
  return text.replace(INVISIBLE, (char) => char.replace(/./gs, escapedUnit));
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
