/** A connection marker found in a text. */
export interface Marker {
  /** Where it starts. */
  readonly start: number;
  /** Where the answer starts: behind the dashes, and the label if there is one. */
  readonly end: number;
  /** `HTTP` or `HTTPS`: its label, else its first word. */
  readonly word: string;
  readonly isLabelled: boolean;
}

const RULED = String.raw` CONNECT\s*-{3,}`;
/** `HTTP/1.1` is the beginning of a status line, not a label; and behind an empty answer stands the next marker. */
const LABEL = String.raw`\s*(HTTPS?)(?=\s|$)(?!${RULED})`;
const MARKER = new RegExp(`(HTTPS?)${RULED}(?:${LABEL})?`, "g");

/**
 * The markers of a text, in order. A marker counts at the start of the text and of a line; behind other white space
 * only where the whole text is folded onto one line, so that no header value can forge one. Linear time.
 *
 * @see management API 4.2
 */
export function findMarkers(text: string, folded: boolean): readonly Marker[] {
  const textStart = text.search(/\S/);
  const found = [...text.matchAll(MARKER)].filter(({ index }) => {
    const before = text.slice(index - 1, index);
    return index === textStart || (folded ? /\s/.test(before) : before === "\n");
  });
  return found.map(toMarker);
}

function toMarker(match: RegExpExecArray): Marker {
  const [whole, word = "", label] = match;
  const { index: start } = match;
  return { start, end: start + whole.length, word: label ?? word, isLabelled: label !== undefined };
}
