import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
const INVALID_BYTE_BASE = 0xdc00;

/** A well-formed sequence of several bytes, each as a Latin-1 character. @see The Unicode Standard, table 3-7 */
const SEQUENCE =
  "(?:[\\xc2-\\xdf][\\x80-\\xbf]|\\xe0[\\xa0-\\xbf][\\x80-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}|\\xed[\\x80-\\x9f][\\x80-\\xbf]" +
  "|\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|[\\xf1-\\xf3][\\x80-\\xbf]{3}|\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2})";
/** This matches runs of such sequences, and runs of other bytes. */
const RUNS = new RegExp(`${SEQUENCE}+|(?:(?!${SEQUENCE})[\\x80-\\xff])+`, "g");

/**
 * Decodes UTF-8 and drops a byte order mark. An invalid byte 0xNN becomes the lone surrogate U+DCNN, so that different
 * bytes stay different texts. Never throws; linear time.
 */
export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasMark = buffer.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const body = hasMark ? buffer.subarray(BYTE_ORDER_MARK.length) : buffer;
  if (isUtf8(body)) return body.toString("utf8");
  return body.toString("latin1").replace(RUNS, (run) => {
    if (run.length === 1) return String.fromCharCode(INVALID_BYTE_BASE + run.charCodeAt(0));
    const part = Buffer.from(run, "latin1");
    return isUtf8(part) ? part.toString("utf8") : loneSurrogates(part);
  });
}

function loneSurrogates(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes);
  for (let at = 0; at < units.length; at += 1) units[at] = INVALID_BYTE_BASE + (bytes[at] ?? 0);
  return Buffer.from(units.buffer).toString("utf16le");
}

/** Replaces the credentials of a request in a text from its answer. */
export type Redact = (text: string) => string;

/** `encodeInto` of an encoder takes whole characters only. */
const ENCODER = new TextEncoder();
const ROOM = new Uint8Array(256);
const LOOKS_CUT = /~[0-9a-f]{16}$/;

/**
 * Makes well-formed Unicode of at most 256 bytes. `?` replaces lone surrogates and U+FFFD, which PromQL rejects: the queries in alerts'
 * texts contain labels. If something was cut or replaced, `~` and 16 digits of a hash of the whole text follow, so that different texts
 * stay different.
 */
export function cutText(text: string): string {
  const wellFormed = text.replace(/[\p{Surrogate}\uFFFD]/gu, "?");
  const short = wellFormed.slice(0, ENCODER.encodeInto(wellFormed, ROOM).read);
  // A text that already ends like a cut text gets a hash too; otherwise it could equal another text after its cut.
  if (short === text && !LOOKS_CUT.test(text)) return text;
  return `${short}~${hash("sha256", Buffer.from(text, "utf16le")).slice(0, 16)}`;
}
