/** A status line up to its number; what follows must be white space or the end. */
const STATUS = String.raw`/\d+(?:\.\d+)?[ \t]+([+-]?\d+)(?=\s|$)`;
const AT_START = new RegExp(String.raw`^\s*HTTP${STATUS}`);
const AT_LINE_START = new RegExp(String.raw`(?<=\n)HTTP${STATUS}`, "g");
/** Not behind a token that ends in ":", where it would be a header's value. The look behind comes after a literal, so that it is seldom tried. */
const AFTER_TOKEN = new RegExp(String.raw`HTTP(?<=[^\s:]\s+HTTP)${STATUS}`, "g");

/**
 * The status code of an answer's final status line, 100 to 999; 0 where the answer does not start with a status line;
 * `undefined` where the number is out of range. Interim answers (1xx) are passed over for a later status line: at the
 * start of a line, or where the answer is `folded`, anywhere but behind a header's name. Linear time.
 */
export function finalStatus(answer: string, folded: boolean): number | undefined {
  let number = AT_START.exec(answer)?.[1];
  if (number === undefined) return 0;
  if (!isInterim(number)) return statusCode(number);
  for (const [, next = ""] of answer.matchAll(folded ? AFTER_TOKEN : AT_LINE_START)) {
    number = next;
    if (!isInterim(number)) break;
  }
  return statusCode(number);
}

function isInterim(number: string): boolean {
  return /^1\d\d$/.test(number);
}

function statusCode(number: string): number | undefined {
  return /^[1-9]\d\d$/.test(number) ? Number(number) : undefined;
}
