/** The part of a status line after `HTTP`, up to its number. White space or the end must follow. */
const STATUS = String.raw`/\d+(?:\.\d+)?[ \t]+([+-]?\d+)(?=\s|$)`;
const AT_START = new RegExp(String.raw`^\s*HTTP${STATUS}`);
const AT_LINE_START = new RegExp(String.raw`(?<=\n)HTTP${STATUS}`, "g");
/** Not after a token that ends in ":", as that is a header's value. The lookbehind follows a literal, so that it rarely runs. */
const AFTER_TOKEN = new RegExp(String.raw`HTTP(?<=[^\s:]\s+HTTP)${STATUS}`, "g");
/** The reason phrase of a proxy that opened a tunnel. */
const CONNECTED = /^[ \t]+connection[ \t]+established(?=\s|$)/i;

/**
 * The status code of an answer's final status line, 100 to 999, or `undefined` if it is out of range. An answer that does not
 * start with a status line has status 0, and `line` is its first line, if it has one.
 *
 * Interim answers (1xx) and a proxy's `200 Connection established` (in any case) are skipped if a later status line
 * follows: at the start of a line, or, if the answer is `folded`, anywhere except after a header name. Without a later
 * one, an interim answer counts, and a proxy's is 0: the website sent no HTTP response. Linear time.
 */
export function readAnswer(
  answer: string,
  folded: boolean,
): { readonly status: number | undefined; readonly line?: string | undefined } {
  const first = AT_START.exec(answer);
  if (first === null) return { status: 0, line: /\S.*/.exec(answer)?.[0].trimEnd() };
  let status = toStatus(first);
  for (const match of answer.matchAll(folded ? AFTER_TOKEN : AT_LINE_START)) {
    if (status.isFinal) break;
    status = toStatus(match);
  }
  return { status: status.code };
}

interface Status {
  readonly code: number | undefined;
  readonly isFinal: boolean;
}

function toStatus({ 0: line, 1: number = "", index, input = "" }: RegExpMatchArray): Status {
  const rest = input.slice((index ?? 0) + line.length);
  if (number === "200" && CONNECTED.test(rest)) return { code: 0, isFinal: false };
  const code = /^[1-9]\d\d$/.test(number) ? Number(number) : undefined;
  return { code, isFinal: code === undefined || code >= 200 };
}
