/** What a JSON text amounts to, told without building anything from it. */
export interface JsonShape {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** Entries of the outermost array or object, one more than its commas; 0 where it is empty, or none. */
  readonly entries: number;
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const SPACE = " ".charCodeAt(0);
const OPEN = new Set(["[", "{"].map((char) => char.charCodeAt(0)));
const CLOSE = new Set(["]", "}"].map((char) => char.charCodeAt(0)));

/**
 * The shape of a text, well-formed or not, in one pass that costs a small part of parsing: a hostile text is refused
 * before the parser spends half a second of everybody's time on it.
 */
export function shapeOf(text: string): JsonShape {
  let depth = 0;
  let deepest = 0;
  let commas = 0;
  let isEmpty = true;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char <= SPACE) continue;
    if (depth === 1 && !CLOSE.has(char)) isEmpty = false;
    if (char === QUOTE) index = endOfString(text, index);
    else if (char === COMMA && depth === 1) commas += 1;
    else if (OPEN.has(char)) deepest = Math.max(deepest, (depth += 1));
    else if (CLOSE.has(char)) depth -= 1;
  }
  return { depth: deepest, entries: isEmpty ? 0 : commas + 1 };
}

/** Index of the quote that ends the string begun at `start`; the text's length where none does. */
export function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) return index;
    if (char === BACKSLASH) index += 1;
  }
  return text.length;
}
