import { hash } from "node:crypto";

/** Replaces the credentials of a request in a text of its answer. */
export type Redact = (text: string) => string;

const LIMIT_BYTES = 256;
const LOOKS_CUT = /~[0-9a-f]{16}$/;

/**
 * A text as it is kept: well-formed Unicode of at most 256 bytes, with `~` and 16 digits of a hash of the whole text
 * behind it if something was cut or replaced, so that different texts stay different.
 */
export function cutText(text: string): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, "\uFFFD");
  const short = truncate(wellFormed);
  // What only looks cut is marked as well, or it could pass for another text that was cut.
  return short === text && !LOOKS_CUT.test(text) ? text : `${short}~${digest(text)}`;
}

/** Cuts between characters. */
function truncate(text: string): string {
  if (text.length * 3 <= LIMIT_BYTES) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= LIMIT_BYTES) return text;
  let end = LIMIT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

function digest(text: string): string {
  return hash("sha256", Buffer.from(text, "utf16le")).slice(0, 16);
}
