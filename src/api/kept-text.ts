import { hash } from "node:crypto";

/** Replaces the credentials of a request in a text from its answer. */
export type Redact = (text: string) => string;

/** Takes whole characters only. */
const ENCODER = new TextEncoder();
const ROOM = new Uint8Array(256);
const LOOKS_CUT = /~[0-9a-f]{16}$/;

/**
 * Well-formed Unicode of at most 256 bytes. If something was cut or replaced, `~` and 16 digits of a hash of the whole
 * text follow, so that different texts stay different.
 */
export function cutText(text: string): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, "\uFFFD");
  const short = wellFormed.slice(0, ENCODER.encodeInto(wellFormed, ROOM).read);
  // A text that already ends like a cut text gets a hash too; otherwise it could equal another text after its cut.
  return short === text && !LOOKS_CUT.test(text) ? text : `${short}~${digest(text)}`;
}

function digest(text: string): string {
  return hash("sha256", Buffer.from(text, "utf16le")).slice(0, 16);
}
