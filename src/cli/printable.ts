/** Control characters, including those of text direction. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Replaces the control characters of a line, so that it cannot control a terminal. */
export function printable(text: string): string {
  return text.replace(CONTROL, "\uFFFD");
}

/** The same for several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Escapes the control characters of several lines as `\u{1B}`; keeps tabs. */
export function escaped(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(CONTROL, (char) => (/[\n\t]/.test(char) ? char : escape(char)));
}

function escape(char: string): string {
  return `\\u{${char.charCodeAt(0).toString(16).toUpperCase()}}`;
}
