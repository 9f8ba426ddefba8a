/** Takes credentials out of an answer, wherever they stand in it. */
export type Scrub = (body: Uint8Array) => Uint8Array;

/** Shorter ones stand in any answer by chance (`MASTER`), and what is true must not be made unreadable for their sake. */
const MIN_PASSWORD_LENGTH = 8;
/** What JSON writes with a letter or a mark behind the backslash. @see RFC 8259, 7 */
const SHORT_ESCAPES = new Map(Array.from('"\\/\b\f\n\r\t', (char, i) => [char, '"\\/bfnrt'.charAt(i)]));

/**
 * Puts `<secret>` in the place of the credentials that a request was sent with, where an appliance echoes them: the
 * header's token, and the password if it has at least eight characters. In JSON each of their characters may be escaped.
 * Whatever becomes of the answer (labels, logs, the answer as it came) is made of what is left.
 */
export function createScrub(authorization: string, password: string): Scrub {
  const token = authorization.replace(/^Basic /, "").replace(/=+$/, "");
  const echoed = [`${patternOf(token)}={0,2}`];
  if (password.length >= MIN_PASSWORD_LENGTH) echoed.push(patternOf(password));
  const pattern = new RegExp(echoed.join("|"), "g");
  return (body) => {
    // One character a byte: bodies need not be valid in any other encoding.
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
    const scrubbed = text.replace(pattern, "<secret>");
    return scrubbed === text ? body : Buffer.from(scrubbed, "latin1");
  };
}

function patternOf(secret: string): string {
  return Array.from(secret, (char) => `(?:${formsOf(char).join("|")})`).join("");
}

/** A character in UTF-8, or as JSON may escape it. @see RFC 8259, 7 */
function formsOf(char: string): readonly string[] {
  const bytes = Array.from(Buffer.from(char), (byte) => `\\x${hex(byte, 2)}`).join("");
  const units = Array.from({ length: char.length }, (_, i) => `\\\\u${anyCase(hex(char.charCodeAt(i), 4))}`);
  const short = SHORT_ESCAPES.get(char);
  return [bytes, units.join(""), ...(short === undefined ? [] : [`\\\\\\x${hex(short.charCodeAt(0), 2)}`])];
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

function anyCase(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
