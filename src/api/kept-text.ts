import { hash } from "node:crypto";

/** Replaces the credentials of a request in a text from its answer. */
export type Redact = (text: string) => string;

const LIMIT_BYTES = 256;
const ENCODER = new TextEncoder();
const LOOKS_CUT = /~[0-9a-f]{16}$/;

/**
 * Well-formed Unicode of at most 256 bytes. If something was cut or replaced, `~` and 16 digits of a hash of the whole
 * text follow, so that different texts stay different.
 */
export function cutText(text: string): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, "\uFFFD");
  const short = truncate(wellFormed);
  // A text that already ends like a cut text gets a hash too; otherwise it could equal another text after its cut.
  return short === text && !LOOKS_CUT.test(text) ? text : `${short}~${digest(text)}`;
}

/** Never cuts inside a character. */
function truncate(text: string): string {
  if (text.length * 3 <= LIMIT_BYTES) return text;
  return text.slice(0, ENCODER.encodeInto(text, new Uint8Array(LIMIT_BYTES)).read);
}

function digest(text: string): string {
  return hash("sha256", Buffer.from(text, "utf16le")).slice(0, 16);
}
