/** What steers a terminal, the direction of writing among it. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

/** A text on one line that cannot steer a terminal, nor turn the direction of what stands beside it. */
export function printable(text: string): string {
  return text.replace(STEERING, "\uFFFD");
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** A text of several lines whose control characters are told by their numbers, as `\u{1B}`: nothing of it is lost. Tabs stay. */
export function spelledOut(text: string): string {
  return text
    .replace(/\r\n/g, "\n")
    .replace(STEERING, (char) => (/[\n\t]/.test(char) ? char : numberOf(char)));
}

function numberOf(char: string): string {
  return `\\u{${char.charCodeAt(0).toString(16).toUpperCase()}}`;
}
