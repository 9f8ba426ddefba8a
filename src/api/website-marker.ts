import type { Protocol } from "./website-test.ts";

/** A connection marker in the text of a website test. */
export interface Marker {
  readonly start: number;
  /** Offset of the answer: after the dashes, and after the label if there is one. */
  readonly end: number;
  /** The label, or the first word if there is no label. */
  readonly protocol: Protocol;
}

const RULED = String.raw` CONNECT\s*-{3,}`;
/** `HTTP/1.1` starts a status line and is not a label; neither is the next marker after an empty answer. */
const LABEL = String.raw`\s*(HTTPS?)(?=\s|$)(?!${RULED})`;
const MARKER = new RegExp(`(HTTPS?)${RULED}(?:${LABEL})?`, "g");

/**
 * The markers of a text, in order. A marker counts at the start of the text or of a line. After other white space it
 * counts only if the whole text is folded onto one line, so that no header value can forge one. Linear time.
 *
 * @see management API 4.2
 */
export function findMarkers(text: string, folded: boolean): readonly Marker[] {
  const textStart = text.search(/\S/);
  const found = [...text.matchAll(MARKER)].filter(({ index }) => {
    const before = text.slice(index - 1, index);
    return index === textStart || (folded ? /\s/.test(before) : before === "\n");
  });
  // Some appliances write `HTTP CONNECT` without a label for both protocols: the second one is https.
  const firstPlain = found.find(isPlain);
  return found.map((match) => {
    const { 0: whole, 1: word, 2: label = word, index: start } = match;
    const isHttps = label === "HTTPS" || (isPlain(match) && match !== firstPlain);
    return { start, end: start + whole.length, protocol: isHttps ? "https" : "http" };
  });
}

function isPlain([, word, label]: RegExpExecArray): boolean {
  return label === undefined && word === "HTTP";
}
