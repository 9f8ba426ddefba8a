import { createHash } from "node:crypto";

const LIMIT_BYTES = 256;

/**
 * A text from outside as a label value: well-formed Unicode of at most 256 bytes, with `~` and 16 digits of a hash of the
 * raw text behind them where something had to be cut or replaced, so that different texts stay different.
 */
export function labelValue(raw: string): string {
  const wellFormed = raw.replace(/\p{Surrogate}/gu, "\uFFFD");
  const short = truncate(wellFormed);
  // What only looks as if it had been cut is marked as well, or it could pass for another text that was.
  return short === raw && !LOOKS_CUT.test(raw) ? raw : `${short}~${hash(raw)}`;
}

const LOOKS_CUT = /~[0-9a-f]{16}$/;

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information */
export function escapeLabelValue(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"\n]/g, (char) => ESCAPES[char] ?? char) : value;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

/** Cuts between characters. */
function truncate(text: string): string {
  if (text.length * 3 <= LIMIT_BYTES) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= LIMIT_BYTES) return text;
  let end = LIMIT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

function hash(raw: string): string {
  return createHash("sha256").update(Buffer.from(raw, "utf16le")).digest("hex").slice(0, 16);
}
